import type { Board, Card, Client, Column, FullBoard } from '@lockstep/client'
import { EXIT, Failure } from './failure.ts'
import { escapeControlChars } from './terminal.ts'

interface Named {
  id: string
  title: string
}
/** Maximum number of names listed for a name that is ambiguous or unknown. */
const MAX_LISTED = 10
const CONCURRENCY = 4
export const isId = (word: string) => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(word)

/**
 * Finds the item with this id or title. An exact match wins over a prefix, so that “Ship” works even if there is a
 * “Ship it”.
 */
export function pick<T extends Named>(kind: string, word: string, things: readonly T[]): T {
  const lowerCase = word.toLowerCase()
  const matchers: ((thing: T) => boolean)[] = [
    ({ id }) => id === lowerCase,
    ({ title }) => title === word,
    ({ title }) => title.toLowerCase() === lowerCase,
    ({ id, title }) => id.startsWith(lowerCase) || title.toLowerCase().startsWith(lowerCase),
  ]
  const found =
    word === '' ? [] : (matchers.map((matches) => things.filter(matches)).find((hits) => hits.length > 0) ?? [])
  const [first, ...others] = found
  const quoted = `“${escapeControlChars(word)}”`
  if (!first) {
    const isShort = things.length > 0 && things.length <= MAX_LISTED
    const existing = isShort ? ` There are: ${listOf(things, ({ title }) => `“${title}”`)}.` : ''
    throw new Failure(`There is no ${kind} ${quoted}.${existing}`, EXIT.notFound, { code: 'not_found' })
  }
  if (others.length === 0) return first
  const matches = listOf(found, ({ id, title }) => `${id} “${title}”`)
  throw new Failure(`${quoted} matches ${found.length}: ${matches}.`, EXIT.failed, { code: 'ambiguous' })
}

function listOf<T extends Named>(things: readonly T[], nameOf: (thing: T) => string): string {
  const listed = things.slice(0, MAX_LISTED).map((thing) => escapeControlChars(nameOf(thing)))
  const more = things.length > MAX_LISTED ? `, and ${things.length - MAX_LISTED} more` : ''
  return listed.join(', ') + more
}

/** The shortest unique prefix of each id, at least eight characters. */
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

/** Loads a full board. */
export async function loadBoard(client: Client, word: string): Promise<FullBoard> {
  return client.getBoard({ board_id: isId(word) ? word : (await findBoard(client, word)).id })
}

export const findColumn = (board: FullBoard, word: string): Column => pick('column', word, board.columns)

/** Finds a card by id, title or `#<number>`, on the given board or on any board of the user. */
export async function findCard(
  client: Client,
  word: string,
  boardName: string | undefined,
): Promise<{ card: Card; board: FullBoard }> {
  const boards = boardName === undefined ? await client.listBoards() : [await findBoard(client, boardName)]
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
  await Promise.all(Array.from({ length: CONCURRENCY }, read))
  const numbered = known.filter(({ card }) => word === `#${card.number}`)
  return numbered.length > 0
    ? pick(
        'card',
        word,
        numbered.map((each) => ({ ...each, title: word })),
      )
    : pick('card', word, known)
}
