import type { Card } from '@lockstep/contract/cards'
import { startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { percentile } from '@lockstep/testing/statistics'
import { afterAll, beforeAll, expect, test } from 'vitest'

let service: TestService
let board: TestBoard
beforeAll(async () => {
  service = await startService()
  board = await service.board()
})
afterAll(() => service.stop())

async function cardWith(comments: number): Promise<Card> {
  const { id, member, columns } = board
  const params = { board_id: id, column_id: columns[0].id }
  const card = await member.api.call('createCard', { params, body: { title: 'Card' } })
  await service.sql.query(
    `with made as (
      insert into comments (board_id, id, card_id, author_id, body, mention_ids, created_at)
      select $1, gen_random_uuid(), $2, $3, 'Comment ' || repeat(md5(n::text), 10), array[$3::uuid], now() - n * interval '1 second'
      from generate_series(1, $4::int) n returning id)
    update cards set comment_count = (select count(*) from made) where id = $2`,
    [id, card.id, member.id, comments],
  )
  await service.sql.query('analyze comments')
  return card
}
const timeOf = async (work: () => Promise<unknown>) => {
  const started = performance.now()
  await work()
  return performance.now() - started
}
/** The fastest quarter decides: other tests run at the same time. */
const show = (label: string, times: number[]) =>
  console.log(`${label}: ${[25, 50, 95].map((p) => `p${p} ${percentile(times, p).toFixed(1)} ms`).join(', ')}`)

/** Alternates between the two, so that other work on the machine slows both. */
async function compare(what: string, few: () => Promise<unknown>, many: () => Promise<unknown>) {
  const times: { few: number[]; many: number[] } = { few: [], many: [] }
  for (let n = 0; n < 60; n++) {
    times.few.push(await timeOf(few))
    times.many.push(await timeOf(many))
  }
  show(`${what} with few comments`, times.few)
  show(`${what} with many comments`, times.many)
  expect(percentile(times.many, 25)).toBeLessThan(3 * percentile(times.few, 25))
}

test('[COMMENT-4] the first and the last page of 10,000 comments take as long as a page of 30', async () => {
  const [{ id: few }, { id: many }] = [await cardWith(30), await cardWith(10_000)]
  const { rows } = await service.sql.query<{ cursor: string }>(
    `select (extract(epoch from created_at) * 1000000)::int8 || '_' || id as cursor from comments
     where card_id = $1 order by created_at, id limit 1 offset 30`,
    [many],
  )
  const read = async (card_id: string, query = {}) =>
    expect(await board.owner.api.call('listComments', { params: { card_id }, query })).toHaveLength(30)
  for (const query of [{}, { cursor: rows[0]?.cursor ?? '' }])
    await compare(
      `a page ${JSON.stringify(query)}`,
      () => read(few),
      () => read(many, query),
    )
})

test('[COMMENT-9] a card with 500 comments moves as fast as one without, because no comment is read', async () => {
  const [none, many] = [await cardWith(0), await cardWith(500)]
  let moves = 0
  const move = ({ id }: Card) => {
    const body = { column_id: board.columns[moves++ % 4 < 2 ? 1 : 0].id }
    return board.owner.api.call('moveCard', { params: { card_id: id }, body })
  }
  await compare(
    'a move',
    () => move(none),
    () => move(many),
  )
})
