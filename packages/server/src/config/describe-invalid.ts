import type { ErrorObject } from 'ajv'
import { SECRETS, Settings } from './settings.ts'

/** What a value with a pattern must look like, because nobody reads a pattern. */
const patterns: Record<string, string> = {
  DATABASE_URL: 'must begin with postgres:// or postgresql://',
  REDIS_URL: 'must begin with redis:// or rediss://, or be empty',
  PASSWORD_REQUIRES: 'must be a list of lower, upper, digit, symbol, separated by commas',
  METRICS_TOKEN: 'must consist of visible ASCII characters',
  ENCRYPTION_KEY: 'must be 32 bytes in base64, as from openssl rand -base64 32, or empty',
  ENCRYPTION_KEY_PREVIOUS: 'must be 32 bytes in base64, or empty',
}

interface Allowed {
  type?: string
  enum?: string[]
  minimum?: number
  maximum?: number
}

/** One sentence for each setting with a wrong value. It has the allowed values, never the value itself. */
export function describeInvalid(errors: ErrorObject[]): string {
  const names = new Set(errors.map(({ instancePath }) => instancePath.slice(1)))
  return [...names].map((name) => `${name} ${requirementOf(name)}.`).join(' ')
}

function requirementOf(name: string): string {
  const allowed = Settings.properties[name as keyof typeof Settings.properties] as Allowed
  if (allowed.enum) return `must be one of ${allowed.enum.join(', ')}`
  if (allowed.type === 'boolean') return 'must be true or false'
  if (allowed.type === 'integer') return `must be a whole number${rangeOf(allowed)}`
  return patterns[name] ?? 'must not be empty'
}

function rangeOf({ minimum, maximum }: Allowed): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`
  return minimum === undefined ? '' : `, at least ${minimum}`
}

const settings = Object.keys(Settings.properties)
const known = new Set([...settings, ...SECRETS.map((name) => `${name}_FILE`)])
/** In a shorter name, too many unrelated variables differ by one letter. */
const MIN_LENGTH = 6

/** A sentence for each variable that is probably a misspelt setting, which would have no effect. */
export function findMisspelt(environment: Record<string, string | undefined>): string[] {
  return Object.keys(environment)
    .filter((name) => !known.has(name) && environment[name] !== undefined)
    .flatMap((name) => {
      if (name.endsWith('_FILE') && settings.includes(name.slice(0, -5)))
        return [`${name} is not a setting: only ${SECRETS.join(', ')} can be read from a file.`]
      const near = nearestTo(name.toUpperCase())
      return near === undefined ? [] : [`${name} is not a setting. Did you mean ${near}?`]
    })
}

function nearestTo(name: string): string | undefined {
  if (name.length < MIN_LENGTH) return undefined
  const beginning = name.includes('_') ? settings.find((setting) => setting.startsWith(`${name}_`)) : undefined
  const maxEdits = name.length < 10 ? 1 : 2
  const [near] = [...known]
    .map((each) => ({ each, edits: editsBetween(name, each) }))
    .filter(({ edits }) => edits <= maxEdits)
    .sort((a, b) => a.edits - b.edits)
  return near?.each ?? beginning
}

/** How many letters must be inserted, deleted, replaced or swapped with their neighbour to turn one word into the other. */
function editsBetween(from: string, to: string): number {
  let before: number[] = []
  let above = Array.from({ length: to.length + 1 }, (_, i) => i)
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const isSame = from[i - 1] === to[j - 1]
      const isSwap = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      const least = Math.min(at(above, j) + 1, at(row, j - 1) + 1, at(above, j - 1) + (isSame ? 0 : 1))
      row.push(i > 1 && j > 1 && isSwap ? Math.min(least, at(before, j - 2) + 1) : least)
    }
    before = above
    above = row
  }
  return at(above, to.length)
}
const at = (row: number[], index: number) => row[index] ?? Number.POSITIVE_INFINITY
