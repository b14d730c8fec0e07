import { Ajv } from 'ajv'

/** Judges values by a schema that others wrote; lists what does not fit, and where. */
export function judgeBy(schema: object): (value: unknown) => string[] {
  const fits = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(schema)
  return (value) =>
    fits(value) ? [] : (fits.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}
