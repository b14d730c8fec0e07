import { setTimeout as pause } from 'node:timers/promises'
import { verify } from '@node-rs/argon2'
import { Asker } from '../tests/prove/asking.ts'
import { Load } from './load.ts'
import { byTurns, demand, type Findings, figure, median, rounded } from './measure.ts'
import { USERS } from './seed.ts'
import { PASSWORD, type Stage } from './stage.ts'

/** As many as the service hashes at a time. */
const THREADS = 2
const CONNECTIONS = 8
const LEAST_SHARE = 0.9
const MOST_TIMES = 2

/** Logins beside bare password hashing; and what other requests notice of many logins at once. */
export async function run(stage: Stage): Promise<Findings> {
  const { size, progress } = stage
  const service = await stage.main()
  using load = new Load()
  const form = (user: number) =>
    new URLSearchParams({ username: `user${user}@example.com`, password: PASSWORD }).toString()
  const login = (user: number) => ({
    method: 'POST',
    path: '/auth/login',
    body: form(user),
    type: 'application/x-www-form-urlencoded',
  })
  await load.prepare(
    'login',
    Array.from({ length: USERS }, (_, i) => login(i + 1)),
  )
  const { rows } = await stage
    .sql('ours')
    .query<{ hashed_password: string }>('select hashed_password from users limit 1')
  const { hashed_password } = rows[0] as { hashed_password: string }
  const ms = Math.max(size.window_ms, 300)
  const ours = async () => (await load.run('login', service.base_url, { connections: CONNECTIONS, ms }, 200)).rate
  const bare = async () => {
    const begun = performance.now()
    const end = begun + ms
    let done = 0
    let in_time = 0
    const thread = async () => {
      while (performance.now() < end) {
        demand(await verify(hashed_password, PASSWORD), 'the right password was wrong')
        done++
        if (performance.now() <= end) in_time++
      }
    }
    await Promise.all(Array.from({ length: THREADS }, thread))
    return (in_time > 0 ? in_time / ms : done / (performance.now() - begun)) * 1_000
  }
  await ours()
  const found = await byTurns(size.rounds, { ours, bare })

  const asker = new Asker(service.base_url, stage.tokens[1] as string)
  const ask = async () => {
    const { ms: took, status } = await asker.ask('GET', '/auth/me')
    demand(status === 200, `a read answered ${status}`)
    await pause(2)
    return took
  }
  const quiet: number[] = []
  const besieged: number[] = []
  let refused = 0
  try {
    for (let i = 0; i < Math.max(20, size.logins / 2); i++) quiet.push(await ask())
    let isOver = false
    // Whoever would wait for longer than ten seconds is told to come back.
    const siege = load.run('login', service.base_url, { connections: size.logins, ms: 100 }, 200, 503).finally(() => {
      isOver = true
    })
    siege.catch(() => {})
    while (!isOver) besieged.push(await ask())
    const { sent, statuses } = await siege
    refused = statuses[503] ?? 0
    demand(sent >= size.logins, `only ${sent} of ${size.logins} logins were sent`)
  } finally {
    asker.close()
  }
  const rates = { ours: median(found.ours), bare: median(found.bare) }
  const reads = { ours: median(besieged), bare: median(quiet) }
  progress(
    `  ${rounded(rates.ours)} logins/s, bare ${rounded(rates.bare)}/s; others ${rounded(reads.ours)} ms, quiet ${rounded(reads.bare)} ms`,
  )
  return {
    limits: `The hash, ${THREADS} at a time. On a machine with no more cores than that, the service, its database and the load need them too; on a larger one logins leave the rest to others.`,
    figures: [
      figure('login, to bare argon2 on two threads', '/s', rates, { ratio: { least: LEAST_SHARE } }),
      figure(`other requests during ${size.logins} logins, to quiet`, 'ms', reads, { ratio: { most: MOST_TIMES } }),
    ],
    tables: [
      {
        heading: 'Logins',
        text: `Logins on ${CONNECTIONS} connections beside the bare check of the same hash (Argon2id, 19 MiB, two passes), ${THREADS} at a time as the service does it. Then ${size.logins} logins at once, while somebody reads his profile.`,
        columns: ['what', 'value'],
        rows: [
          ['logins a second', rounded(rates.ours)],
          ['bare checks a second', rounded(rates.bare)],
          ['a read when it is quiet, p50 ms', rounded(reads.bare)],
          [`a read during ${size.logins} logins, p50 ms`, rounded(reads.ours)],
          ['such reads', besieged.length],
          ['of these logins, told to come back (503)', refused],
        ],
      },
    ],
  }
}
