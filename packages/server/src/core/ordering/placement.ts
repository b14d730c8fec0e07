import { definitionOf, type OrderedResource } from '@lockstep/contract/resources'
import { sql } from 'kysely'
import { type Db, statement } from '../../database/database.ts'
import { makeGap, rankBetween } from './rank.ts'

/** The requested position of an item: after an anchor (null: first), at an index, or last. */
export interface PositionInput {
  position?: number | null
  after_id?: string | null
}
/** One ordered list: the items of one parent, without the moved item. */
interface RankedList {
  board_id: string
  parent_id: string
  moved_id: string | null
}
/** The rank of the placed item, and the new ranks of its neighbours if there was no gap, in the order of their events. */
export interface PlacementResult {
  rank: number
  others: { id: string; rank: number }[]
}

/** Makes the function that finds ranks in the ordered lists of one resource. Call that function under the board lock. */
export function rankedLists(resource: OrderedResource) {
  const { table } = definitionOf(resource)
  const parent = `${definitionOf(resource).parent}_id`
  const list = (args: RankedList) => sql`${sql.table(table)} item where item.board_id = ${args.board_id}
    and item.${sql.ref(parent)} = ${args.parent_id} and item.id is distinct from ${args.moved_id}`

  const lastRank = statement(
    `last_rank_in_${table}`,
    (args: RankedList) => sql<{ rank: number }>`select item.rank from ${list(args)} order by item.rank desc limit 1`,
  )
  const ranksAround = statement(
    `ranks_around_in_${table}`,
    (args: RankedList & { skip: number; take: number }) => sql<{ rank: number }>`
      select item.rank from ${list(args)} order by item.rank offset ${args.skip} limit ${args.take}`,
  )
  const ranksFrom = statement(
    `ranks_from_in_${table}`,
    (args: RankedList & { after_id: string }) => sql<{ id: string; rank: number }>`
      select item.id, item.rank from ${list(args)}
        and item.rank >= (select anchor.rank from ${sql.table(table)} anchor where anchor.board_id = ${args.board_id}
          and anchor.${sql.ref(parent)} = ${args.parent_id} and anchor.id = ${args.after_id})
      order by item.rank limit 2`,
  )
  const allRanks = statement(
    `all_ranks_in_${table}`,
    (args: RankedList) =>
      sql<{ id: string; rank: number }>`select item.id, item.rank from ${list(args)} order by item.rank`,
  )

  /** The ranks of the neighbours of the requested position. */
  async function neighbours(
    db: Db,
    args: RankedList,
    { after_id, position }: PositionInput,
  ): Promise<[before: number | undefined, after: number | undefined]> {
    if (after_id) {
      const [anchor, after] = await db.run(ranksFrom, { ...args, after_id })
      if (anchor?.id === after_id) return [anchor.rank, after?.rank]
    }
    const index = after_id === null ? 0 : position
    if (index === 0) return [undefined, (await db.run(ranksAround, { ...args, skip: 0, take: 1 }))[0]?.rank]
    if (index) {
      const [before, after] = await db.run(ranksAround, { ...args, skip: index - 1, take: 2 })
      if (before) return [before.rank, after?.rank]
    }
    return [(await db.run(lastRank, args))[0]?.rank, undefined]
  }

  return async function findRank(db: Db, args: RankedList, position: PositionInput): Promise<PlacementResult> {
    const [before, after] = await neighbours(db, args, position)
    const rank = rankBetween(before, after)
    if (rank !== undefined) return { rank, others: [] }
    const items = await db.run(allRanks, args)
    const index = before === undefined ? 0 : items.findIndex((item) => item.rank === before) + 1
    const spaced = makeGap(
      items.map((item) => item.rank),
      index,
    )
    return {
      rank: spaced.rank,
      others: spaced.moved.map(({ index: i, rank: to }) => ({ id: items[i]?.id as string, rank: to })),
    }
  }
}
