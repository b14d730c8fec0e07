import type { readMessages } from './document.ts'
import type { Ending } from './frame-session.ts'
import { ANY, type FuzzFrame } from './frames.ts'
import { CANARY } from './values.ts'

/** A message must be documented, with exactly its fields. */
export function checkMessage(documented: ReturnType<typeof readMessages>, message: unknown): string[] {
  const { type = '' } = (message ?? {}) as { type?: string }
  const known = documented.get(type)
  const complaint = known ? known.complaint(message) : 'is not documented'
  return complaint === undefined ? [] : [`the message ${type}: ${complaint}`]
}

/** The close code must match the last frame. */
export function checkClose({ code, refusal }: Ending, sent: readonly Pick<FuzzFrame, 'codes' | 'what'>[]): string[] {
  if (refusal) return [`a good handshake was rejected with ${refusal.status}`]
  const last = sent.at(-1)
  const expected = last && last.codes.length > 0 ? last.codes : [1000]
  if (expected === ANY) return []
  return expected.includes(Number(code)) ? [] : [`it ended with ${code} instead of ${expected.join(' or ')}`]
}

/**
 * A rejected handshake gets JSON over HTTP, or a close code on the socket. After a bad handshake, the client gets
 * nothing else and the socket is closed.
 */
export function checkHandshake({ code, refusal, messages }: Ending, isBad: boolean): string[] {
  if (isBad && (messages.length > 0 || (!refusal && code === 'open'))) return ['a bad handshake was let in']
  if (!refusal) return typeof code === 'number' && isLegal(code) ? [] : code === 'open' ? [] : [`it ended with ${code}`]
  const { status, text } = refusal
  if (status >= 500) return [`the handshake was answered ${status}`]
  try {
    const { detail } = JSON.parse(text) as { detail?: unknown }
    if (status < 400 || typeof detail === 'string')
      return text.includes(CANARY) ? [`${status} repeats what was sent`] : []
  } catch {
    if (status < 400) return []
  }
  return [`the handshake was rejected with ${status}, and no string detail: ${text.slice(0, 100)}`]
}
const isLegal = (code: number) =>
  (code >= 1000 && code <= 1013 && ![1004, 1006].includes(code)) || (code >= 3000 && code < 5000)
