import { Ajv } from 'ajv'

/** Validates values against a JSON schema, and lists the errors with their locations. */
export function judgeBy(schema: object): (value: unknown) => string[] {
  const fits = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(schema)
  return (value) =>
    fits(value) ? [] : (fits.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}
