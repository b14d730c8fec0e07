import { randomUUID } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  endProcesses,
  eventually,
  newPostgresFolder,
  type PostgresStore,
  runAsPostgres,
  startPostgres,
  startRedis,
  startServiceProcess,
} from '@lockstep/testing/processes'
import { seedBoards } from '../../scripts/seed-boards.ts'
import { failed, runAcceptance } from '../acceptance-suite.ts'
import { databaseOn, kill, query } from '../recovery/cluster.ts'
import { startNewEpoch } from '../recovery/new-epoch.ts'
import { blockOf, settingsOf } from '../recovery/page.ts'
import { openWatchers } from '../recovery/watchers.ts'
import { checkKept, createCard, newBoard, newUser, startWriters } from '../recovery/writers.ts'
import { collectFigures, equals, info, type Progress, type Report } from './report.ts'

const JWT_SECRET = 'hush-hush-signing-secret-of-the-restore-tests'
const DRILLS = 3
const CHECK = new URL('../../deploy/backup/check.sql', import.meta.url)

export interface Size {
  boards: number
  cards: number
  writers: number
  /** As in the settings of the server; the page says 60. */
  archive_timeout: number
  /** Whether the acceptance suite judges the restored service. */
  isJudged: boolean
}
export interface Drill {
  violations: string[]
  acknowledged: number
  /** Acknowledged writes that are missing in the archive, and the age of the oldest one. */
  lost: number
  rpoMs: number
  /** Time from the disaster to the first response of the restored service. */
  rtoMs: number
  smoke: string[]
}

/** The whole drill: a service under load, a backup of it while it runs, a disaster, and the way back. */
export async function drill(size: Size): Promise<Drill> {
  try {
    const folder = await newPostgresFolder()
    const [ARCHIVE, BACKUP] = [join(folder, 'archive'), join(folder, 'backup')]
    await runAsPostgres('mkdir "$ARCHIVE"', { ARCHIVE })
    const settings = [
      ...settingsOf('server', { NAME: 'server_1' }),
      ...settingsOf('archive', { ARCHIVE, archive_timeout: String(size.archive_timeout) }),
    ]
    const primary = { name: 'server_1', ...(await startPostgres({ settings })) }
    const redis = await startRedis()
    if (size.boards > 0) await seedBoards({ ...size, databaseUrl: databaseOn(primary) })
    const environment = (url: string) => ({ DATABASE_URL: url, REDIS_URL: redis.url, JWT_SECRET, LOG_LEVEL: 'warn' })
    const service = await startServiceProcess(environment(databaseOn(primary)))
    const { baseUrl } = service
    const { api, token } = await newUser(baseUrl)
    const places = await Promise.all(Array.from({ length: 4 }, () => newBoard(api)))
    const watched = await newBoard(api)

    const writers = startWriters(api, places, size.writers)
    await writers.more()
    await runAsPostgres(blockOf('backup'), { PRIMARY: primary.url, BACKUP })
    await writers.more()
    const [first, second] = [randomUUID(), randomUUID()]
    await createCard(api, watched, first)
    const [moment] = await query<{ until: string }>(primary.url, 'select clock_timestamp()::text as until')
    const UNTIL = moment?.until ?? ''
    // The clock of PostgreSQL counts microseconds; a commit takes many.
    await pause(20)
    await createCard(api, watched, second)
    const watchers = await openWatchers(baseUrl, token, watched.board_id)
    const hadSecond = watchers.show(second)
    await writers.more()
    await archived(primary)
    await writers.more()

    const disaster = performance.now()
    kill(primary)
    await Promise.all([rm(primary.data, { recursive: true, force: true }), service.end('SIGKILL')])
    const acknowledged = writers.acknowledged()
    const restored = await restore({ ARCHIVE, BACKUP, UNTIL })
    const url = databaseOn(restored)
    const invariants = await query<{ wrong: string; count: string }>(url, await readFile(CHECK, 'utf8'))
    await startNewEpoch(url)
    const again = await startServiceProcess({ ...environment(url), PORT: new URL(baseUrl).port })
    await api.call('getBoard', { params: watched })
    const rtoMs = Math.round(performance.now() - disaster)
    await writers.stop()

    const titles = await titlesOn(url, watched.board_id)
    await eventually('the clients show the restored board', () => watchers.isRight())
    const violations = [
      ...(hadSecond ? [] : ['the clients did not see the second write']),
      ...(titles.includes(first) ? [] : ['the write before the moment is gone']),
      ...(titles.includes(second) ? ['the write after the moment is there'] : []),
      ...(watchers.show(second) ? ['a client still shows the write after the moment'] : []),
      ...invariants.filter(({ count }) => count !== '0').map(({ wrong, count }) => `${count} ${wrong}`),
      ...writers.strange.filter((response) => !/^TypeError: fetch failed/.test(response)),
      ...(await checkKept(
        url,
        writers.acknowledged().filter((write) => !acknowledged.includes(write)),
      )),
    ]
    await watchers.close()
    const smoke = size.isJudged ? await runAcceptance(baseUrl, '--quick') : undefined
    if (smoke) violations.push(...failed(smoke.results).map((row) => `the smoke suite fails: ${row}`))
    await again.end()

    // The other disaster: nothing but the backup and the archive is left, and as much as possible is wanted.
    const whole = await restore({ ARCHIVE, BACKUP, UNTIL: '' })
    const kept = new Set(
      (await query<{ title: string }>(databaseOn(whole), 'select title from cards')).map((c) => c.title),
    )
    const lost = acknowledged.filter(({ title }) => !kept.has(title))
    const oldest = Math.min(disaster, ...lost.map(({ acknowledgedAt = disaster }) => acknowledgedAt))
    return {
      ...{ violations, acknowledged: acknowledged.length, lost: lost.length, rtoMs },
      ...{ rpoMs: Math.round(disaster - oldest), smoke: smoke?.summary ?? [] },
    }
  } finally {
    await endProcesses()
  }
}

/** Until all that is written now lies in the archive. */
async function archived({ url }: PostgresStore) {
  const [now] = await query<{ file: string }>(url, 'select pg_walfile_name(pg_current_wal_lsn()) as file')
  await eventually('the archive has it', async () => {
    const [row] = await query<{ has: boolean }>(url, 'select last_archived_wal >= $1 as has from pg_stat_archiver', [
      now?.file,
    ])
    return row?.has
  })
}

async function restore(words: { ARCHIVE: string; BACKUP: string; UNTIL: string }): Promise<PostgresStore> {
  const server = await startPostgres({ make: (DATA) => runAsPostgres(blockOf('restore'), { ...words, DATA }) })
  await eventually('it is restored', async () => {
    const [row] = await query<{ is_over: boolean }>(server.url, 'select not pg_is_in_recovery() as is_over')
    return row?.is_over
  })
  return server
}

async function titlesOn(url: string, board_id: string) {
  return (await query<{ title: string }>(url, 'select title from cards where board_id = $1', [board_id])).map(
    ({ title }) => title,
  )
}

export async function prove(progress: Progress): Promise<Report> {
  const size = { boards: 200, cards: 100, writers: 8, archive_timeout: 5, isJudged: true }
  const { figures, violations, add, fail } = collectFigures(progress)
  const drills: Drill[] = []
  while (drills.length < DRILLS) {
    const outcome = await drill(size)
    drills.push(outcome)
    progress(`drill ${drills.length} of ${DRILLS}: ${outcome.smoke.join('; ')}`)
    for (const violation of outcome.violations) fail(violation)
  }
  const sum = (of: (one: Drill) => number) => drills.reduce((all, one) => all + of(one), 0)
  const longest = (of: (one: Drill) => number) => Math.max(...drills.map(of))
  add(
    info('drills', DRILLS),
    info(
      'writes acknowledged before the disaster',
      sum(({ acknowledged }) => acknowledged),
    ),
    equals(
      'wrong writes restored, broken invariants, stale clients and failed acceptance rows',
      sum(({ violations: found }) => found.length),
      0,
    ),
    info(
      'RTO: from the disaster to the first response, longest',
      longest(({ rtoMs }) => rtoMs),
      'ms',
    ),
    info(
      'acknowledged writes missing in the archive',
      sum(({ lost }) => lost),
    ),
    info(
      `RPO: age of the oldest of these with archive_timeout = ${size.archive_timeout} s, longest`,
      longest(({ rpoMs }) => rpoMs),
      'ms',
    ),
  )
  return { figures, violations }
}
