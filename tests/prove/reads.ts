import { endProcesses, startPostgres, startRedis } from '../../packages/server/testing/processes.ts'
import { loadByTurns, readAtRandom } from './board-loads.ts'
import { complaintsOf } from './files-stage.ts'
import { atLeast, atMost, collectGoals, is, told, yes } from './goals.ts'
import { makeAudience, openPool, startBare } from './realtime-stage.ts'
import type { Progress, Report } from './report.ts'

const MEMBERS = 10
const LARGE = { cards: 1_000, rounds: 60 }
const RANDOM = { boards: 200, readers: 16, reads: 5_000, bound_bytes: 200_000, seed: 20_260 }
/** How much faster a board is answered that did not change than one that must be built. */
const TIMES_FASTER = 50

/** What a load of a board costs, and what is kept of boards. */
export async function prove(progress: Progress): Promise<Report> {
  const { sections, violations, fail, add } = collectGoals(progress)
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()])
  const sql = openPool(postgres.url)
  try {
    const service = await startBare({ DATABASE_URL: postgres.url, REDIS_URL: redis.url })
    const audience = await makeAudience(sql, MEMBERS)
    progress('a board that did not change')
    const { built, unchanged, known, statement, caller, ...about } = await loadByTurns(
      service,
      postgres.url,
      sql,
      audience,
      LARGE,
    )
    add(
      'A board that did not change',
      `A board of ${LARGE.cards} cards, each with two labels, an assignee and a checklist of three items, and ${MEMBERS} members. It is loaded after a change, again without one, and with its ETag, by turns; medians over ${LARGE.rounds} rounds, as a client sees them; a board is loaded more often than it changes, so in each round these loads are made five times. Beside them, in the same rounds: the statement that reads the board, on a connection of its own, and the smallest read there is.`,
      [
        told('the board as JSON', about.bytes / 1_024, 'KiB'),
        told('compressed', about.packed_bytes / 1_024, 'KiB'),
        told('built after a change, p50', built.p50, 'ms'),
        told('the bare statement, p50', statement.p50, 'ms'),
        told('unchanged, p50', unchanged.p50, 'ms'),
        told('unchanged and known to the client (304), p50', known.p50, 'ms'),
        told('a read of nothing but the caller, p50', caller.p50, 'ms'),
        atLeast('built to unchanged', built.p50 / unchanged.p50, TIMES_FASTER, 'times'),
        told('built to known', built.p50 / known.p50, 'times'),
        told('built to unchanged, of the fastest tenth of each', built.p10 / unchanged.p10, 'times'),
        yes('each load showed the last change', about.isFresh),
        yes("a member's new name was seen on the next load", about.isNameFresh),
      ],
    )
    for (const complaint of complaintsOf(service)) fail(`The service complains: ${complaint}`)
    await service.end()

    progress('boards read at random')
    const found = await readAtRandom(postgres.url, sql, audience, RANDOM)
    add(
      'Boards read at random',
      `${RANDOM.boards} boards of 1 to 100 cards, read by ${RANDOM.readers} at once while one in twenty reads is preceded by a change.`,
      [
        told('all boards, compressed', found.all_bytes / 1_024, 'KiB'),
        atMost('most that was kept', found.most_bytes, RANDOM.bound_bytes, 'bytes'),
        told('reads', found.reads),
        atMost('of them built', found.builds, found.reads - 1),
        is('older than asked for', found.stale, 0),
      ],
    )
  } finally {
    await sql.end()
    await endProcesses()
  }
  const setting = {
    cards: LARGE.cards,
    members: MEMBERS,
    rounds: LARGE.rounds,
    boards: RANDOM.boards,
    seed: RANDOM.seed,
  }
  return { title: 'Loads of boards', setting, sections, violations }
}
