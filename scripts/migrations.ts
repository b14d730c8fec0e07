import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import {
  concurrentIndexOf,
  type MigrationHeader,
  type MigrationPhase,
  readBatches,
  readHeader,
} from '../packages/server/src/database/migrations/read-migrations.ts'

const FOLDER = 'packages/server/migrations'
const CONFIG = `${FOLDER}/squawk.toml`

/** The baseline creates the tables in an empty database: the rules for changing a database in use do not apply. */
const BASELINE = '0001_schema'

/** Squawk rules that a phase may break, because that is its purpose. Our own rule checks that NOT NULL was validated before. */
const allowed: Record<MigrationPhase, string[]> = {
  expand: ['ban-drop-not-null'],
  migrate: [],
  contract: ['ban-drop-column', 'ban-drop-table', 'ban-drop-not-null', 'adding-not-nullable-field'],
}

interface File {
  file: string
  name: string
  text: string
  /** The statements without comments, in lower case. */
  statements: string[]
  header: MigrationHeader | undefined
}

/** Lints the migrations of a folder: their headers, our own rules, and squawk. */
export function checkMigrations(folder = FOLDER): string[] {
  const files = globSync(`${folder}/*.sql`).sort().map(readFile)
  const linted = files.filter(({ name }) => name !== BASELINE)
  return [
    ...linted.flatMap((each) => {
      const found = each.header ? problemsOf(each, each.header, files) : ['its phase is missing (-- phase: expand)']
      return found.map((problem) => `${each.name}: ${problem}`)
    }),
    ...(['expand', 'migrate', 'contract'] as const).flatMap((phase) =>
      [true, false].flatMap((isInside) => {
        const matches = ({ header }: File) =>
          header?.phase === phase && (header.mode === 'in a transaction') === isInside
        return squawk(linted.filter(matches), phase, isInside)
      }),
    ),
  ]
}

function readFile(file: string): File {
  const text = readFileSync(file, 'utf8')
  const plain = text.replaceAll(/--.*$/gm, '').toLowerCase()
  // Remove function bodies, which contain semicolons.
  const statements = plain
    .replaceAll(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''")
    .split(';')
    .map((statement) => statement.replaceAll(/\s+/g, ' ').trim())
    .filter((statement) => statement !== '')
  return { file, name: basename(file, '.sql'), text, statements, header: readHeader(text) }
}

function problemsOf(each: File, header: MigrationHeader, all: File[]): string[] {
  const { text, statements, name } = each
  const { phase, mode, needs, because } = header
  const earlier = all.filter((other) => other.name < name)
  const problems: string[] = []
  const check = (isMet: boolean, problem: string) => isMet || problems.push(problem)

  check(/^-- phase: /.test(text), 'its phase is not in the first line')
  if (phase === 'contract') {
    check(
      /^-- needs: \w+$/m.test(text),
      'it does not say which versions can run after it (-- needs: a migration, or nothing)',
    )
    check(because !== null, 'it does not say what made it safe (-- because: …)')
    check(needs === null || earlier.some((other) => other.name === needs), `there is no ${needs} before it`)
    for (const column of statements.flatMap(notNullColumns))
      check(wasChecked(column, earlier), `no earlier migration validated check (${column} is not null)`)
  } else {
    check(needs === null, 'only a contract migration may have -- needs')
    // A column may become nullable if the previous release never meets such a row where it needs the value.
    const takesAway =
      because === null ? /\b(drop (table|column)|drop not null)\b|\brename\b/ : /\bdrop (table|column)\b|\brename\b/
    const breaking = statements.find((s) => takesAway.test(s))
    check(breaking === undefined, `running versions may use what it takes away: ${breaking}`)
  }
  if (mode === 'in batches') {
    check(phase === 'migrate', 'only the phase migrate can run in batches')
    check(
      statements.length === 2 && readBatches(text) !== undefined,
      'it is not a batch, `-- left`, and a query for the remaining rows',
    )
    check(
      /\blimit (\d+)\b/.test(statements[0] ?? '') && sizeOf(statements[0]) <= 10_000,
      'its batch has no limit up to 10000',
    )
    check(
      /\bfor (no key )?update skip locked\b/.test(statements[0] ?? ''),
      'its batch waits for rows (for update skip locked)',
    )
  } else {
    check(
      !statements.some((s) => /^(update|delete)\b/.test(s)),
      'it changes rows all at once (-- phase: migrate, in batches)',
    )
  }
  if (mode === 'no transaction') {
    check(statements.length === 1, 'without a transaction it can be only one statement')
    check(/\bconcurrently\b|\bvalidate constraint\b/.test(statements[0] ?? ''), 'it must run in a transaction')
    const isAgain = concurrentIndexOf(text) === undefined || /\bif not exists\b/.test(statements[0] ?? '')
    check(isAgain, 'it cannot be done again after an interruption (if not exists)')
  } else {
    const outside = statements.find((s) => /\bconcurrently\b|\bvalidate constraint\b/.test(s))
    check(outside === undefined, `it must not hold locks of a transaction (no transaction): ${outside}`)
    const locked = new Set(statements.flatMap((s) => /^alter table (?:only )?(\w+)/.exec(s)?.[1] ?? []))
    check(locked.size <= 1, `a request can deadlock with it: it locks ${[...locked].join(' and ')}`)
  }
  return problems
}

const sizeOf = (statement = '') => Number(/\blimit (\d+)\b/.exec(statement)?.[1])
const notNullColumns = (statement: string) =>
  [...statement.matchAll(/alter (?:column )?(\w+) set not null/g)].map(([, column]) => column as string)
/** With a validated check, SET NOT NULL does not scan the table under an ACCESS EXCLUSIVE lock. */
function wasChecked(column: string, earlier: File[]): boolean {
  const check = new RegExp(`add constraint (\\w+) check \\(${column} is not null\\) not valid`)
  const names = earlier.flatMap(({ statements }) => statements.flatMap((s) => check.exec(s)?.[1] ?? []))
  return names.some((name) =>
    earlier.some(({ statements }) => statements.some((s) => s.includes(`validate constraint ${name}`))),
  )
}

function squawk(files: File[], phase: MigrationPhase, isInside: boolean): string[] {
  if (files.length === 0) return []
  const options = ['--config', CONFIG, '--reporter', 'gcc', ...(isInside ? ['--assume-in-transaction'] : [])]
  // --exclude replaces the exceptions of the configuration file, so they are passed again.
  // A single statement is repeated as a whole; the rule for `if not exists` above checks that it can be.
  const alone = isInside ? [] : ['prefer-robust-stmts']
  const exceptions = [...readExceptions(), ...allowed[phase], ...alone].flatMap((rule) => ['--exclude', rule])
  const args = [...options, ...exceptions, ...files.map(({ file }) => file)]
  const { status, stdout, stderr, error } = spawnSync('squawk', args, { encoding: 'utf8' })
  if (error) return [error.message]
  return status === 0 ? [] : `${stdout}${stderr}`.trim().split('\n')
}
const readExceptions = () =>
  [...readFileSync(CONFIG, 'utf8').matchAll(/^ {2}"([\w-]+)",$/gm)].map(([, rule]) => rule as string)
