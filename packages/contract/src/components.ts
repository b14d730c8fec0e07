import type { TSchema } from 'typebox'

export type Json = Record<string, unknown>

const SCALARS = ['string', 'integer', 'number', 'boolean']

/** Collects schemas with a title as named components, and responses that several operations have. */
export class Components {
  readonly schemas: Record<string, Json> = {}
  readonly responses: Record<string, Json> = {}

  reference(schema: TSchema): Json {
    const { title } = schema as { title?: string }
    return title === undefined ? this.inside(schema) : this.named(title, schema)
  }

  /** A reference to the schema as a component with this name. */
  named(name: string, schema: TSchema): Json {
    this.schemas[name] ??= this.inside(schema)
    return { $ref: `#/components/schemas/${name}` }
  }

  /** A reference to the response as a component: `Conflict`, or `Conflict2` if another response has the name. */
  response(name: string, response: Json): Json {
    const text = JSON.stringify(response)
    for (let n = 1; ; n++) {
      const numbered = n === 1 ? name : `${name}${n}`
      this.responses[numbered] ??= response
      if (JSON.stringify(this.responses[numbered]) === text) return { $ref: `#/components/responses/${numbered}` }
    }
  }

  private inside(schema: TSchema): Json {
    const entries = Object.entries(schema).map(([key, value]) => {
      if (key === 'properties') {
        return [
          key,
          Object.fromEntries(Object.entries(value as Record<string, TSchema>).map(([n, s]) => [n, this.reference(s)])),
        ]
      }
      if (key === 'items') return [key, this.reference(value as TSchema)]
      if (key === 'anyOf') return [key, (value as TSchema[]).map((s) => this.reference(s))]
      return [key, value]
    })
    const written = Object.fromEntries(entries) as Json
    return mergeNull('enum' in written ? { type: 'string', ...written } : written)
  }
}

/** A scalar or null as a list of types. Many generators make no type, or a worse one, of `anyOf` with null. */
function mergeNull(schema: Json): Json {
  const { anyOf, ...outer } = schema as { anyOf?: Json[] }
  const [scalar, none] = anyOf ?? []
  if (anyOf?.length !== 2 || !scalar || none?.['type'] !== 'null' || !SCALARS.includes(scalar['type'] as string))
    return schema
  return {
    ...scalar,
    type: [scalar['type'], 'null'],
    ...(Array.isArray(scalar['enum']) && { enum: [...(scalar['enum'] as unknown[]), null] }),
    ...outer,
  }
}
