import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { unpackVersion } from '@lockstep/testing/older-version'
import { eventually } from '@lockstep/testing/processes'
import { startService, type TestService } from '@lockstep/testing/service'
import { startTamperingProxy, type Tampering } from '@lockstep/testing/tampering-proxy'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkMigrations } from '../scripts/migrations.ts'
import { unpackPreviousSource } from './previous-version.ts'
import { checkBoards, makeBoards, upgradeUnderLoad } from './prove/operate-upgrade.ts'
import { type Instance, UpgradeWorkload } from './prove/upgrade-workload.ts'

describe('the checks of the upgrade workload', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startService()
  })
  afterAll(() => service.stop())

  /** Runs a small workload through a tampering proxy, and returns the violations found. */
  async function complaintsAbout(
    tampering: Tampering,
    { sockets = 1, tamper }: { sockets?: number; tamper?: (board_id: string) => Promise<unknown> } = {},
  ) {
    const [board] = await makeBoards(service.baseUrl, service.sql, 1)
    if (!board) throw new Error('There is no board')
    await using proxy = await startTamperingProxy(service.baseUrl, tampering)
    // The workload only uses these members of an instance.
    const instance = { baseUrl: proxy.baseUrl, version: 'new' } as Instance
    const load = new UpgradeWorkload([board])
    load.beginPhase('the mistake')
    load.addInstance(instance)
    load.start({ boards: 1, writers: 1, readers: 1, sockets, thinkingMs: 5 })
    await eventually('something was written', () => load.answered > 40)
    await load.stop()
    await tamper?.(board.created.id)
    await checkBoards(load, service.sql, [board], [instance])
    return load.failures
  }
  /** Tampers with the first message of a kind. */
  const toFirst = (kind: string, spoil: (text: string) => string[]): NonNullable<Tampering['replaceMessage']> => {
    let isDone = false
    return ({ type }, text) => {
      if (isDone || type !== kind) return [text]
      isDone = true
      return spoil(text)
    }
  }
  /** Delays an event until after the next one. */
  const lateness = (): NonNullable<Tampering['replaceMessage']> => {
    let held: string | undefined
    let isDone = false
    return ({ type }, text) => {
      if (held !== undefined && type.startsWith('c')) {
        const both = [text, held]
        held = undefined
        return both
      }
      if (isDone || type !== 'card.moved') return [text]
      isDone = true
      held = text
      return []
    }
  }
  /** Replaces the response to the first move. */
  const responding = (response: { status?: number; text: string }): NonNullable<Tampering['replaceResponse']> => {
    let isDone = false
    return ({ path }, given) => {
      if (isDone || !path.endsWith('/move')) return given
      isDone = true
      return { ...given, status: response.status ?? given.status, content: Buffer.from(response.text) }
    }
  }

  test('[UPG-11] find nothing wrong with a correct service', async () => {
    expect(await complaintsAbout({})).toEqual([])
  })
  test.each([
    [
      'an event that a socket did not receive',
      { replaceMessage: toFirst('card.moved', () => []) },
      /^a socket received (\d+) after/,
    ],
    [
      'an event that it received twice',
      { replaceMessage: toFirst('card.moved', (text) => [text, text]) },
      /^a socket received (\d+) after \1$/,
    ],
    ['two events in the wrong order', { replaceMessage: lateness() }, /^a socket received (\d+) after/],
    [
      'a socket that must resync',
      { replaceMessage: toFirst('card.moved', (text) => [text, '{"type":"resync"}']) },
      /received resync/,
    ],
    [
      'a request that failed',
      { replaceResponse: responding({ status: 503, text: '{"detail":"Not now."}' }) },
      /^moveCard to the new version during “the mistake”: 503 \{"detail":"Not now\."\}/,
    ],
    [
      'a response with another shape',
      { replaceResponse: responding({ text: '{"id":"x"}' }) },
      /^moveCard to the new version during “the mistake”/,
    ],
  ])('[UPG-11] finds %s', async (_, tampering: Tampering, sentence) => {
    expect(await complaintsAbout(tampering)).toContainEqual(expect.stringMatching(sentence))
  })
  test('[UPG-11] finds two sockets that received different events, and an event that differs from the log', async () => {
    const withTypo = () => ({ replaceMessage: toFirst('card.created', (text) => [text.replace('Card', 'Cart')]) })
    const two = await complaintsAbout(withTypo(), { sockets: 2 })
    expect(two).toContainEqual(expect.stringMatching(/^two sockets received different events as \d+$/))
    // With two sockets, the first to receive the event is compared with the log.
    const one = await complaintsAbout(withTypo(), { sockets: 1 })
    expect(one).toContainEqual(expect.stringMatching(/^sockets received another event as \d+ than the log has$/))
  })
  test('[UPG-11] finds an event that is missing in the log', async () => {
    const lost = (board_id: string) =>
      service.sql.query(`delete from board_events where board_id = $1 and type = 'card.moved' and seq < 20`, [board_id])
    const found = await complaintsAbout({}, { tamper: lost })
    expect(found).toContainEqual(expect.stringMatching(/^the log has a gap before \d+/))
  })
})

test('[UPG-11] the previous release and this one run together, during upgrade and rollback', async () => {
  const load = { boards: 2, writers: 2, readers: 1, sockets: 4, thinkingMs: 50 }
  const upgrade = await upgradeUnderLoad({ ...load, togetherSeconds: 2, stageSeconds: 1 }, () => {})
  expect(upgrade.failures).toEqual([])
  expect(upgrade.exits).toEqual([0, 0, 0, 0])
  for (const { name, requests } of upgrade.stages) expect([name, requests.old + requests.new > 0]).toEqual([name, true])
}, 900_000)

test('[UPG-14] the client of the previous release works with this service', async () => {
  using previous = unpackPreviousSource()
  const service = await startService()
  try {
    const user = await service.user()
    const entry = (path: string) => JSON.stringify(join(previous.folder, 'packages/client/src', path))
    const code = `
      import { createClient } from ${entry('index.ts')}
      import { openBoard } from ${entry('live/index.ts')}
      const client = createClient({ baseUrl: ${JSON.stringify(service.baseUrl)}, token: ${JSON.stringify(user.api.token)} })
      const { id } = await client.createBoard({ title: 'Board' })
      const [one, other] = await Promise.all([openBoard(client, id), openBoard(client, id)])
      const column = one.change('createColumn', { title: 'Column' })
      const card = one.change('createCard', { column_id: column.id, title: 'Card' })
      one.change('updateCard', { card_id: card.id, title: 'New title' })
      const { outcome } = await one.change('moveCard', { card_id: card.id, position: 0 }).done
      const titles = () => other.view.columns.flatMap(({ cards }) => cards.map(({ title }) => title)).join()
      while (titles() !== 'New title') await new Promise((resolve) => setTimeout(resolve, 20))
      await Promise.all([one.close(), other.close()])
      client.close()
      console.log(outcome, titles())`
    const { stdout, stderr } = await promisify(execFile)('node', ['--input-type=module-typescript', '-e', code], {
      timeout: 30_000,
    })
    expect([stdout, stderr]).toEqual(['confirmed New title\n', ''])
  } finally {
    await service.stop()
  }
}, 120_000)

test('[UPG-11] a clone without the old version is reported', () => {
  const commit = '0123456789012345678901234567890123456789'
  expect(() => unpackVersion(commit)).toThrow(
    `This clone does not have the commit ${commit}, an older version: fetch its whole history.`,
  )
})

/** Lints additional migrations after ours. */
function lint(files: Record<string, string>): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-lint-'))
  try {
    const ours = join(import.meta.dirname, '../packages/server/migrations')
    for (const name of readdirSync(ours)) symlinkSync(join(ours, name), join(folder, name))
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, `${name}.sql`), `${text}\n`)
    return checkMigrations(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
const contract = '-- phase: contract\n-- needs: nothing\n-- because: nobody reads it.\n'
type Case = [what: string, text: string, complaint: string]
const badExpands: Case[] = [
  [
    'a column that may be null, without a reason',
    'alter table cards alter column title drop not null;',
    'running versions may use what it takes away',
  ],
  [
    'a default that is computed for each row',
    'alter table cards add column token uuid default gen_random_uuid();',
    'adding-field-with-default',
  ],
  ['another type', 'alter table cards alter column title type varchar(200);', 'changing-column-type'],
  [
    'an index that keeps writers out',
    'create index cards_by_title on cards (title);',
    'require-concurrent-index-creation',
  ],
  ['NOT NULL without a check', 'alter table cards alter column description set not null;', 'adding-not-nullable-field'],
  [
    'a check that reads the table',
    'alter table cards add constraint short check (length(title) < 300);',
    'constraint-missing-not-valid',
  ],
  [
    'a reference that reads the table',
    'alter table boards add constraint s foreign key (id) references board_stream;',
    'adding-foreign-key-constraint',
  ],
  ['a column that goes', 'alter table cards drop column description;', 'running versions may use what it takes away'],
  [
    'two tables',
    'alter table cards add column note text; alter table columns add column note text;',
    'a request can deadlock with it: it locks cards and columns',
  ],
  ['another name', 'alter table cards rename column title to name;', 'running versions may use what it takes away'],
  ['rows all at once', "update cards set description = '' where description is null;", 'it changes rows all at once'],
  [
    'an index made concurrently in a transaction',
    'create index concurrently if not exists i on cards (title);',
    'it must not hold locks of a transaction',
  ],
]
const badOnes: Case[] = [
  ...badExpands.map(
    ([what, text, complaint]): Case => [`that expands by ${what}`, `-- phase: expand\n${text}`, complaint],
  ),
  ['without a phase', 'alter table cards add column note text;', 'its phase is missing'],
  [
    'that takes something away and does not say from whom',
    '-- phase: contract\n-- because: so.\ndrop table job_leases;',
    'it does not say which versions can run after it',
  ],
  [
    'that takes something away and does not say why it may',
    '-- phase: contract\n-- needs: nothing\ndrop table job_leases;',
    'it does not say what made it safe',
  ],
  [
    'that needs what does not exist',
    `${contract.replace('nothing', '0019_never')}drop table job_leases;`,
    'there is no 0019_never before it',
  ],
  [
    'that requires what nobody checked',
    `${contract}alter table cards alter column description set not null;`,
    'no earlier migration validated check (description is not null)',
  ],
  ['that gives another name', `${contract}alter table cards rename column title to name;`, 'renaming-column'],
  [
    'without a transaction and of two statements',
    '-- phase: expand, no transaction\ncreate index concurrently if not exists a on cards (title);\ncreate index concurrently if not exists b on cards (rank);',
    'it can be only one statement',
  ],
  [
    'that cannot be repeated',
    '-- phase: expand, no transaction\ncreate index concurrently a on cards (title);',
    'it cannot be done again after an interruption',
  ],
  ['in batches without an end', '-- phase: migrate, in batches\nupdate cards set rank = rank;', 'it is not a batch'],
  [
    'in batches that are too large',
    "-- phase: migrate, in batches\nupdate cards set description = '' where id in (select id from cards where description is null limit 50000 for update skip locked);\n-- left\nselect from cards where description is null;",
    'its batch has no limit up to 10000',
  ],
  [
    'in batches that wait for rows',
    "-- phase: migrate, in batches\nupdate cards set description = '' where id in (select id from cards where description is null limit 500);\n-- left\nselect from cards where description is null;",
    'its batch waits for rows',
  ],
]
const nameOf = (what: string) => `9000_bad_${badOnes.findIndex(([name]) => name === what)}_`

describe('the lint of migrations', () => {
  let found: string[]
  beforeAll(() => {
    found = lint(Object.fromEntries(badOnes.map(([what, text]) => [nameOf(what), text])))
  })

  test.each(badOnes)('[UPG-12] rejects a migration %s', (what, _, complaint) => {
    expect(found.filter((line) => line.includes(nameOf(what))).join('\n')).toContain(complaint)
  })

  test('[UPG-12] accepts our migrations, and NOT NULL by way of a validated check', () => {
    const good = {
      '9000_a':
        '-- phase: expand\nalter table cards add constraint described check (description is not null) not valid;',
      '9001_b': '-- phase: migrate, no transaction\nalter table cards validate constraint described;',
      '9002_c': `${contract}alter table cards alter column description set not null;\nalter table cards drop constraint described;`,
    }
    expect(lint(good)).toEqual([])
  })
})
