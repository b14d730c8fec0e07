import type { Board, Card, Client, Column, FullBoard } from '@lockstep/client'
import { EXIT, Failure } from './failure.ts'
import { harmless } from './terminal.ts'

interface Named {
  id: string
  title: string
}
/** As many candidates are listed when a name could mean several. */
const MAX_LISTED = 10
const AT_ONCE = 4
const isId = (word: string) => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(word)

/**
 * The one thing that a word names. An id or a whole title wins over the beginning of one: a card “Ship” can be named although
 * there is a “Ship it” too.
 */
export function pick<T extends Named>(kind: string, word: string, things: readonly T[]): T {
  const small = word.toLowerCase()
  const ways: ((thing: T) => boolean)[] = [
    ({ id }) => id === small,
    ({ title }) => title === word,
    ({ title }) => title.toLowerCase() === small,
    ({ id, title }) => id.startsWith(small) || title.toLowerCase().startsWith(small),
  ]
  const found = word === '' ? [] : (ways.map((way) => things.filter(way)).find((hits) => hits.length > 0) ?? [])
  const [first, ...others] = found
  if (!first) throw new Failure(`There is no ${kind} “${harmless(word)}”.`, EXIT.not_found, { code: 'not_found' })
  if (others.length === 0) return first
  const listed = found.slice(0, MAX_LISTED).map(({ id, title }) => `${id} “${harmless(title)}”`)
  const more = found.length > MAX_LISTED ? `, and ${found.length - MAX_LISTED} more` : ''
  throw new Failure(`“${harmless(word)}” could be any of ${found.length}: ${listed.join(', ')}${more}.`, EXIT.failed, {
    code: 'ambiguous',
  })
}

/** The beginning of each id that is enough to tell it from the others, and at least eight characters. */
export function shortIds(ids: readonly string[]): Map<string, string> {
  const length = (id: string) => {
    const isShared = (end: number) => ids.some((other) => other !== id && other.startsWith(id.slice(0, end)))
    let end = 8
    while (end < id.length && isShared(end)) end++
    return end
  }
  return new Map(ids.map((id) => [id, id.slice(0, length(id))]))
}

export async function findBoard(client: Client, word: string): Promise<Board> {
  return pick('board', word, await client.listBoards())
}

/** A board with all that is on it. */
export async function loadBoard(client: Client, word: string): Promise<FullBoard> {
  return client.getBoard({ board_id: isId(word) ? word : (await findBoard(client, word)).id })
}

export const findColumn = (board: FullBoard, word: string): Column => pick('column', word, board.columns)

/** A card, and the board that it is on: the given one, or any of the user's. */
export async function findCard(
  client: Client,
  word: string,
  board_word: string | undefined,
): Promise<{ card: Card; board: FullBoard }> {
  const boards = board_word === undefined ? await client.listBoards() : [await findBoard(client, board_word)]
  const known: { id: string; title: string; card: Card; board: FullBoard }[] = []
  const waiting = [...boards]
  const read = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const board = await client.getBoard({ board_id: next.id })
      for (const { cards } of board.columns) {
        for (const card of cards) known.push({ id: card.id, title: card.title, card, board })
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, read))
  return pick('card', word, known)
}
