import { type Board, isLockstepError, type ListedBoard } from '@lockstep/client'
import { cacheBoardList, deleteOtherBoards } from '../offline-cache.ts'
import { client, session } from '../session.ts'
import { Store } from '../ui/store.ts'
import { completeBoard } from './create-board.ts'
import { type OfflineBoards, readOfflineBoards, type ShownBoard } from './offline-boards.ts'

/** The most boards of a page of the API. A page also ends with the board that fills 1 MiB. */
const PAGE_LIMIT = 100
/** The first pages are loaded at once, and again with every update, until they have as many boards or characters. */
const FIRST_BOARDS = 1_000
const FIRST_CHARACTERS = 500_000
/** A tile shows two lines of a description. The rest is not kept. */
const SHOWN_CHARACTERS = 300

interface BoardList {
  /** The boards that are loaded, last changed first in each part of the list; undefined until they are known. */
  boards: readonly ShownBoard[] | undefined
  /** The boards that can be opened while the list cannot be loaded. */
  savedIds: ReadonlySet<string>
  /** Whether the user has more boards than those that are loaded. */
  hasMore: boolean
  /** Why the list could not be loaded. */
  failure: unknown
  /** The time of the last attempt. */
  now: number
}
const initial: BoardList = { boards: undefined, savedIds: new Set(), hasMore: false, failure: undefined, now: 0 }

/** The user's boards, as far as they are loaded: for the list, the palette and the settings. */
export const boardList = new Store(initial)

interface LoadedPage {
  boards: readonly ListedBoard[]
  /** Of all of its descriptions, before they were shortened. */
  characters: number
  etag: string | undefined
  /** Where the next page begins; undefined after the last one. */
  cursor: string | undefined
}
/** The pages that are loaded with every update. */
let first: readonly LoadedPage[] = []
/** The pages after them, which were asked for. */
let others: readonly LoadedPage[] = []
let owner: string | undefined
let work: Promise<void> = Promise.resolve()
/** The user whose boards are being loaded. */
let loading: string | undefined

session.subscribe(() => {
  const id = session.get().user?.id
  if (id === owner) return
  owner = id
  first = []
  others = []
  boardList.set(initial)
})

/** Loads the list, or only what has changed. While the server cannot be reached, shows the boards that are saved in the browser. */
export const loadBoards = (): Promise<void> => (loading !== undefined && loading === owner ? work : reloadBoards())

/** The same, after what is being loaded now, which may be older than a change. */
export const reloadBoards = (): Promise<void> => inTurn(readFirst)

/** Loads one more page. */
export const loadMoreBoards = (): Promise<void> => inTurn(readMore)

/** One after the other: both read and replace the pages. */
function inTurn(read: (user_id: string) => Promise<void>): Promise<void> {
  const run = async () => {
    const { state, user } = session.get()
    if (state !== 'in' || !user) return
    owner = user.id
    loading = user.id
    await read(user.id)
      .catch((failure: unknown) => showFailure(user.id, failure))
      .finally(() => {
        loading = undefined
      })
  }
  work = work.then(run)
  return work
}

async function readFirst(user_id: string) {
  const isFirstLoad = first.length === 0
  const end = first.at(-1)?.cursor
  const pages: LoadedPage[] = []
  do {
    const maxTries = navigator.onLine ? undefined : 1
    const page = await readPage(pages.at(-1)?.cursor, first[pages.length], maxTries)
    if (owner !== user_id) return
    pages.push(page)
    if (isFirstLoad && page.cursor !== undefined) show(pages, [])
  } while (pages.at(-1)?.cursor !== undefined && isSmall(pages))
  const isChanged = pages.length !== first.length || pages.some((page, i) => page !== first[i])
  // If the first part ends elsewhere now, the others would overlap with it or leave a gap: they are loaded again when asked for.
  if (pages.at(-1)?.cursor !== end) others = []
  first = pages
  show(first, others)
  const isWhole = pages.at(-1)?.cursor === undefined
  if (isWhole) void deleteOtherBoards(new Set(boardsOf(pages).map(({ id }) => id)))
  if (!isChanged) return
  void cacheBoardList(boardsOf(first), user_id)
  // If this fails, the next visit tries again.
  if (isFirstLoad) completeBoard(boardsOf(first)).catch(() => {})
}

async function readMore(user_id: string) {
  const { cursor } = [...first, ...others].at(-1) ?? {}
  if (cursor === undefined) return
  const page = await readPage(cursor, undefined, undefined)
  if (owner !== user_id) return
  others = [...others, page]
  show(first, others)
}

async function readPage(
  cursor: string | undefined,
  known: LoadedPage | undefined,
  maxTries: number | undefined,
): Promise<LoadedPage> {
  const input = { limit: PAGE_LIMIT, ...(cursor !== undefined && { cursor }) }
  const found = await client.request('listBoards', input, { ifNoneMatch: known?.etag, maxTries })
  const next = found.next?.['cursor']
  if (!found.isModified && known) return known.cursor === next ? known : { ...known, cursor: next }
  const boards = found.data ?? []
  const characters = boards.reduce((sum, { description }) => sum + (description?.length ?? 0), 0)
  return { boards: boards.map(shortened), characters, etag: found.etag, cursor: next }
}

const shortened = <B extends Pick<Board, 'description'>>(board: B): B => ({
  ...board,
  description: board.description?.slice(0, SHOWN_CHARACTERS) ?? null,
})

const boardsOf = (pages: readonly LoadedPage[]) => pages.flatMap(({ boards }) => boards)

const isSmall = (pages: readonly LoadedPage[]) =>
  pages.reduce((sum, { characters }) => sum + characters, 0) < FIRST_CHARACTERS && boardsOf(pages).length < FIRST_BOARDS

/** Each part is in the order of its last changes, so that loading more moves nothing that is shown. */
function show(firstPages: readonly LoadedPage[], otherPages: readonly LoadedPage[]) {
  boardList.update((now) => ({
    ...initial,
    now: Date.now(),
    boards: [
      ...ordered(boardsOf(firstPages), now.boards),
      ...otherPages.flatMap(({ boards }) => ordered(boards, now.boards)),
    ],
    hasMore: [...firstPages, ...otherPages].at(-1)?.cursor !== undefined,
  }))
}

async function showFailure(user_id: string, failure: unknown) {
  const saved = await readOfflineBoards(user_id).catch(() => nothingSaved)
  if (owner !== user_id) return
  // What is saved of a board may be newer than the list that is shown.
  const ids = new Set(saved.boards.map(({ id }) => id))
  boardList.update(({ boards, hasMore }) => ({
    boards:
      boards || saved.boards.length > 0
        ? ordered([...saved.boards, ...(boards ?? []).filter(({ id }) => !ids.has(id))], boards)
        : undefined,
    savedIds: saved.savedIds,
    hasMore,
    failure,
    now: Date.now(),
  }))
}

const nothingSaved: OfflineBoards = { boards: [], savedIds: new Set() }

/** Sorts by the last change. Boards that are shown stay in place while one of them is hovered or focused. */
function ordered(boards: readonly ShownBoard[], shown: readonly ShownBoard[] = []): readonly ShownBoard[] {
  const sorted = boards.toSorted((one, other) => (other.changed_at ?? '').localeCompare(one.changed_at ?? ''))
  if (!document.querySelector('.tiles:is(:hover, :focus-within)')) return sorted
  const places = new Map(shown.map(({ id }, i) => [id, i]))
  return sorted.toSorted((one, other) => (places.get(one.id) ?? -1) - (places.get(other.id) ?? -1))
}

/** Shows a change at once. The next update reads it from the server. */
function changeBoards(change: <B extends ShownBoard>(boards: readonly B[]) => readonly B[]) {
  const changed = (page: LoadedPage): LoadedPage => ({ ...page, boards: change(page.boards), etag: undefined })
  first = first.map(changed)
  others = others.map(changed)
  boardList.update((now) => ({ ...now, boards: now.boards && change(now.boards) }))
}

export const replaceBoard = (board: Board) =>
  changeBoards((boards) => boards.map((each) => (each.id === board.id ? { ...each, ...shortened(board) } : each)))

/** Throws what the server says, unless the user is not on the board anymore: it was deleted, or left in another tab. */
export async function leaveBoard(board_id: string, user_id: string): Promise<void> {
  try {
    await client.removeMember({ board_id, user_id }, { maxTries: 2 })
  } catch (error) {
    if (!isLockstepError(error, 'board_not_found', 'not_a_member', 'member_not_found')) throw error
  }
  changeBoards((boards) => boards.filter(({ id }) => id !== board_id))
}
