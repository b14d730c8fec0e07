export const JSON_TYPE = 'application/json; charset=utf-8'

/** JSON text of a value. PostgreSQL builds most JSON, so a string is JSON text already. */
export const toJson = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
