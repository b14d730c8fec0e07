import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from '@redis/client'
import pg from 'pg'
import { channelOf } from '../packages/server/src/realtime/bus.ts'
import { openSocket } from '../packages/server/testing/socket.ts'
import { Asker } from '../tests/prove/asking.ts'
import { percentile } from '../tests/prove/load-clients.ts'
import { makeFunctions } from './bare-functions.ts'
import { demand, type Findings, figure, rounded } from './measure.ts'
import { DESCRIPTION, TITLE } from './operations.ts'
import { bars } from './plot.ts'
import { columnOf, idOf } from './seed.ts'
import type { Stage } from './stage.ts'

const BOARD = 2
const TIMES_COMMIT = 4
const MOST_P50 = 3
const MOST_P99 = 10
const BETWEEN_MS = 3
type Hop = 'answer' | 'published' | 'shown' | 'total' | 'commit' | 'hop'

/** From a request to one instance to the event at a client of another, and each hop on the way. */
export async function run(stage: Stage): Promise<Findings> {
  const { size, progress } = stage
  await makeFunctions(stage.sql('bare'))
  const [writing, showing] = [await stage.main(), await stage.service('ours')]
  const board_id = idOf('board', BOARD)
  const column_id = idOf('column', columnOf(BOARD, 1))
  const token = stage.tokens[1] as string
  const asker = new Asker(writing.base_url, token)
  const socket = openSocket({ base_url: showing.base_url, token }, board_id, { seq: true })
  const bare = new pg.Client({ connectionString: stage.url('bare') })
  const redis = createClient({ url: stage.redis.url })
  const [hearer, speaker] = [redis.duplicate(), redis.duplicate()]
  for (const each of [redis, hearer, speaker]) each.on('error', () => {})
  const times = { answer: [], published: [], shown: [], total: [], commit: [], hop: [] } as Record<Hop, number[]>
  const note = (name: Hop, ms: number) => void times[name].push(ms)
  try {
    await Promise.all([bare.connect(), redis.connect(), hearer.connect(), speaker.connect(), socket.opened])
    await socket.next('hello')
    let heard = () => {}
    let echo = () => {}
    // The service also speaks of who is there.
    await hearer.sSubscribe(channelOf(board_id), (message) => {
      if (message.startsWith('e|')) heard()
    })
    await hearer.sSubscribe('{bench}:hop', () => echo())
    for (let n = -Math.ceil(size.deliveries / 10); n < size.deliveries; n++) {
      const hearing = new Promise<number>((resolve) => {
        heard = () => resolve(performance.now())
      })
      const sent_at = performance.now()
      const arriving = socket.next('card.created')
      const answering = asker.json('POST', `/boards/${board_id}/columns/${column_id}/cards`, {
        title: TITLE,
        description: DESCRIPTION,
      })
      const [reply, arrival, heard_at] = await Promise.all([answering, arriving, hearing])
      demand(reply.status === 201, `a write answered ${reply.status}`)
      demand(arrival.text.includes(reply.bytes.toString()), 'the event shows another card than the answer')

      const begun = performance.now()
      await bare.query({
        name: 'bare',
        text: 'select bare_create_card($1, $2, $3, gen_random_uuid(), $4, $5)',
        values: [idOf('user', 1), board_id, column_id, TITLE, DESCRIPTION],
      })
      const committed = performance.now() - begun
      const echoed = new Promise<void>((resolve) => {
        echo = resolve
      })
      const said_at = performance.now()
      await Promise.all([speaker.sPublish('{bench}:hop', DESCRIPTION), echoed])
      const hop = performance.now() - said_at
      await pause(BETWEEN_MS)
      if (n < 0) continue
      note('answer', reply.ms)
      note('published', heard_at - sent_at)
      note('shown', arrival.at - heard_at)
      note('total', arrival.at - sent_at)
      note('commit', committed)
      note('hop', hop)
    }
  } finally {
    asker.close()
    await socket.close()
    await bare.end()
    for (const each of [redis, hearer, speaker]) each.destroy()
    await showing.end('SIGKILL')
  }
  const at = (name: Hop, p: number) =>
    percentile(
      times[name].toSorted((a, b) => a - b),
      p,
    )
  progress(
    `  p50 ${rounded(at('total', 50))} ms, p99 ${rounded(at('total', 99))} ms, a bare commit ${rounded(at('commit', 50))} ms`,
  )
  const row = (what: string, name: Hop) => [
    what,
    rounded(at(name, 50)),
    rounded(at(name, 99)),
    `${Math.round((at(name, 50) / at('total', 50)) * 100)} %`,
  ]
  const share = Math.round((at('commit', 50) / at('total', 50)) * 100)
  return {
    limits: `The bare function and its commit alone are ${share} % of the whole way, the bare hop through Redis ${Math.round((at('hop', 50) / at('total', 50)) * 100)} %; the rest is two processes that wake up for each other, HTTP, and the round trips of the transaction.`,
    figures: [
      figure(
        'write to a client of another instance, p50, to a bare commit',
        'ms',
        { ours: at('total', 50), bare: at('commit', 50) },
        { ratio: { most: TIMES_COMMIT }, ours: { most: MOST_P50 } },
      ),
      figure(
        'write to a client of another instance, p99',
        'ms',
        { ours: at('total', 99) },
        { ours: { most: MOST_P99 } },
      ),
    ],
    tables: [
      {
        heading: 'From a write to a client of another instance',
        text: `${size.deliveries} writes, one after the other, with ${BETWEEN_MS} ms between them. The first rows are parts of the way; the bare ones are measured in between, by the same process: the same work as one function and its commit, and a message of ${DESCRIPTION.length} bytes from one connection of Redis to another. The bell rings after the commit, so the answer and the event go out side by side.`,
        columns: ['hop', 'p50 ms', 'p99 ms', 'share of the whole'],
        rows: [
          row('request sent → heard in Redis: HTTP, checks, transaction, commit, publish', 'published'),
          row('heard in Redis → shown by the other instance', 'shown'),
          row('the whole', 'total'),
          row('request sent → answered', 'answer'),
          row('bare: one function with its commit', 'commit'),
          row('bare: Redis, publish → subscriber', 'hop'),
        ],
      },
    ],
    pictures: [
      {
        name: 'hops',
        caption: 'The hops from a write to a client of another instance',
        svg: bars('From a write to a client of another instance, ms (logarithmic)', [
          {
            name: 'p50',
            values: {
              'the whole': at('total', 50),
              'until it is heard in Redis': at('published', 50),
              'from Redis to the client': at('shown', 50),
              'bare function and commit': at('commit', 50),
              'bare Redis hop': at('hop', 50),
            },
          },
        ]),
      },
    ],
  }
}
