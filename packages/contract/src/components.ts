import type { TSchema } from 'typebox'

export type Json = Record<string, unknown>

/** Collects schemas with a title as named components. */
export class Components {
  readonly schemas: Record<string, Json> = {}

  reference(schema: TSchema): Json {
    const { title } = schema as { title?: string }
    if (title === undefined) return this.inside(schema)
    this.schemas[title] ??= this.inside(schema)
    return { $ref: `#/components/schemas/${title}` }
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
    return Object.fromEntries(entries)
  }
}
