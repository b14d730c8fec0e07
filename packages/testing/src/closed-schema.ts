import assert from 'node:assert/strict'
import { formats } from '@lockstep/contract/formats'
import { type ValidateFunction, Ajv2020 as Validator } from 'ajv/dist/2020.js'

const validator = new Validator({ strict: false, allErrors: true })
for (const [name, { test }] of Object.entries(formats)) validator.addFormat(name, test)
validator.addFormat('binary', () => true)
const compiled = new WeakMap<object, ValidateFunction>()

/** Validates a value against a schema without additional properties, so that a leaked field is an error. */
export function checkClosed(schema: object, value: unknown, where: string) {
  const check = compiled.get(schema) ?? validator.compile(close(schema) as object)
  compiled.set(schema, check)
  assert.ok(check(value), `${where} breaks the contract: ${JSON.stringify(check.errors)}`)
}

/** Whether a value matches a schema. Undeclared fields are ignored. */
export function openCheck(schema: object): (value: unknown) => boolean {
  const check = validator.compile(schema)
  return (value) => check(value)
}

function close(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(close)
  if (typeof schema !== 'object' || schema === null) return schema
  if ('allOf' in schema) return { allOf: (schema.allOf as object[]).map(closeInside), unevaluatedProperties: false }
  return 'properties' in schema ? { ...closeInside(schema), additionalProperties: false } : closeInside(schema)
}
const closeInside = (schema: object) =>
  Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, close(value)]))
