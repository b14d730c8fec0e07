import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { HttpClient, type HttpResponse, inParallel } from '@lockstep/testing/load/http-client'
import type { Target } from './attacks.ts'

/** The data that an attacker stores before the attack. Every text has its maximum length. */
export interface Preparation {
  cards?: number
  text?: 'equal' | 'control' | 'random'
  renames?: number
  boards?: number
}

/** The stored data, and the rejection that ended the preparation. */
export interface Prepared {
  target: Target
  made: Required<Omit<Preparation, 'text'>>
  rejected: string | undefined
}

const TEXT_LENGTH = 65_536
const AT_ONCE = 4
const PASSWORD = 'what-only-the-attacker-knows'
const TRIES = 50

const texts = {
  equal: () => 'a'.repeat(TEXT_LENGTH),
  /** Six bytes per character in JSON. */
  control: () => '\u0001'.repeat(TEXT_LENGTH),
  /** Compresses to three quarters at best. */
  random: () => randomBytes((TEXT_LENGTH * 3) / 4).toString('base64'),
}

class Refusal extends Error {}

/** Registers an account and stores data, as far as quotas allow. */
export async function prepare(urls: string[], localAddress: string, preparation: Preparation): Promise<Prepared> {
  const { cards = 0, text = 'equal', renames = 0, boards = 0 } = preparation
  const url = urls[0] as string
  const name = `greedy-${randomUUID().slice(0, 13)}`
  const account = { email: `${name}@example.com`, password: PASSWORD }
  using anonymous = new HttpClient(url, '', { localAddress })
  await must(() => anonymous.json('POST', '/auth/register', { ...account, username: name }))
  const form = Buffer.from(new URLSearchParams({ username: account.email, password: PASSWORD }).toString())
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  const login = await must(() => anonymous.request('POST', '/auth/login', type, [form]))
  const token = (JSON.parse(login.bytes.toString()) as { access_token: string }).access_token

  using client = new HttpClient(url, token, { localAddress })
  const post = async (path: string, content: unknown) => {
    const { bytes, headers } = await must(() => client.json('POST', path, content))
    const { id } = JSON.parse(bytes.toString()) as { id: string }
    return { id, position: headers['board-position'] as string }
  }
  const board = await post('/boards', { title: 'Everything' })
  const column = await post(`/boards/${board.id}/columns`, { title: 'All of it' })
  const path = `/boards/${board.id}/columns/${column.id}/cards`
  const card = await post(path, { title: 'Card' })
  const made = { cards: 0, renames: 0, boards: 0 }
  let rejected: string | undefined
  const store = async (kind: keyof typeof made, count: number, one: (nth: number) => Promise<unknown>) => {
    try {
      await inParallel(
        Array.from({ length: count }, (_, i) => i + 1),
        AT_ONCE,
        async (nth) => {
          if (rejected !== undefined) return
          await one(nth)
          made[kind]++
        },
      )
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      rejected = error.message
    }
  }
  await store('cards', cards, () => post(path, { title: 'Card', description: texts[text]() }))
  await store('renames', renames, (nth) =>
    must(() => client.json('PATCH', `/columns/${column.id}`, { title: `Column ${nth}` })),
  )
  await store('boards', boards, () => post('/boards', { title: 'Board', description: texts[text]() }))
  const since = column.position
  return {
    target: { urls, localAddress, token, ...account, board: board.id, column: column.id, card: card.id, since },
    made,
    rejected,
  }
}

/** Retries while the service is busy. A rejection by a quota ends the preparation. */
async function must(send: () => Promise<HttpResponse>): Promise<HttpResponse> {
  for (let tries = 0; ; tries++) {
    const reply = await send()
    const { status, bytes } = reply
    if (status < 300) return reply
    if (status === 409 || status === 429)
      throw new Refusal(`${status} ${(JSON.parse(bytes.toString()) as { code: string }).code}`)
    if (status !== 503 || tries >= TRIES) throw new Error(`The preparation was answered ${status}: ${bytes.toString()}`)
    await pause(100)
  }
}
