import type { JsonText } from '@lockstep/contract/operation'

/**
 * Changes to JSON text that PostgreSQL built. Everything else keeps its bytes, so that the result equals the text of a later
 * read. Quotes within strings are escaped, so no text that a user wrote looks like a name with its quotes and colon. The first
 * field of each name must be the object's own: fields of nested objects come after it.
 */
const SCALAR = /"[^"\\]*(?:\\.[^"\\]*)*"|[^,}\]]+/y

/** Where the value of a field begins and ends. */
function spanOf(json: string, name: string): [start: number, end: number] {
  const label = `"${name}":`
  const at = json.indexOf(label)
  if (at === -1) throw new Error(`The JSON has no field ${name}`)
  SCALAR.lastIndex = at + label.length
  SCALAR.test(json)
  return [at + label.length, SCALAR.lastIndex]
}

/** The JSON text of a string, number, boolean or null in a field. */
export const fieldOf = (json: string, name: string) => json.slice(...spanOf(json, name))

/** Replaces such fields. */
export function replaceFields<T>(json: JsonText<T>, fields: Partial<T>): JsonText<T> {
  let text: string = json
  for (const [name, value] of Object.entries(fields)) {
    const [start, end] = spanOf(text, name)
    text = text.slice(0, start) + JSON.stringify(value) + text.slice(end)
  }
  return text as JsonText<T>
}

/** A list of objects, and the field that follows it. */
export type ListField = [name: string, next: string]

const listSpan = (json: string, [name, next]: ListField): [start: number, end: number] => {
  const label = `"${name}":[`
  const start = json.indexOf(label) + label.length
  return [start, json.indexOf(`],"${next}":`, start)]
}

/** Whether a list of objects, which begin with their ids, has one with this id. */
export function hasElement(json: string, list: ListField, id: string): boolean {
  return json.slice(...listSpan(json, list)).includes(`{"id":"${id}",`)
}

/** Adds objects at the end of a list. */
export function appendElements<T>(json: JsonText<T>, list: ListField, elements: readonly string[]): JsonText<T> {
  const [start, end] = listSpan(json, list)
  const all = [...(start === end ? [] : [json.slice(start, end)]), ...elements]
  return (json.slice(0, start) + all.join(', ') + json.slice(end)) as JsonText<T>
}
