import { isDeepStrictEqual } from 'node:util'
import type { Shape } from './shapes.ts'

/** The service did not do what the row says. */
export class Broken extends Error {}

/** The value as a short text, for a sentence about what is wrong. */
export function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 160 ? `${text.slice(0, 157)}…` : text
}

export function demand(isSo: boolean, otherwise: string): asserts isSo {
  if (!isSo) throw new Broken(otherwise)
}

export function same(what: string, actual: unknown, expected: unknown) {
  demand(isDeepStrictEqual(actual, expected), `${what} is ${show(actual)} instead of ${show(expected)}`)
}

/** The value has every field that the specification gives it, each of its type. */
export function fits<T>(shape: Shape<T>, value: unknown, where: string): asserts value is T {
  const complaints = shape.complaints(value, where)
  demand(complaints.length === 0, complaints.join('; '))
}

/** Two representations of one resource agree in every field that the specification gives it. */
export function agree<T>(shape: Shape<T>, what: string, actual: unknown, expected: unknown) {
  const [one, other] = [shape.project(actual), shape.project(expected)]
  if (isDeepStrictEqual(one, other)) return
  const fields = Object.keys((other ?? {}) as object).filter(
    (key) => !isDeepStrictEqual((one as Record<string, unknown>)?.[key], (other as Record<string, unknown>)[key]),
  )
  throw new Broken(`${what} differs in ${fields.join(', ')}: ${show(one)} instead of ${show(other)}`)
}
