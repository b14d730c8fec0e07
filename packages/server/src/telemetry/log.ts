/** The part of the logger that most modules use. */
export interface Log {
  info: (details: object, message: string) => void
  warn: (details: object, message: string) => void
}
