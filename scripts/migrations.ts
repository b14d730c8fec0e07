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
const BASELINE = '0001_baseline'

/** What squawk warns of, and what the phase is there for. That NOT NULL was checked before is ours to see to. */
const allowed: Record<MigrationPhase, string[]> = {
  expand: [],
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

/** What is wrong with the migrations of a folder: with their headers, by our own rules, and by squawk's. */
export function checkMigrations(folder = FOLDER): string[] {
  const files = globSync(`${folder}/*.sql`).sort().map(readFile)
  const judged = files.filter(({ name }) => name !== BASELINE)
  return [
    ...judged.flatMap((each) => {
      const found = each.header ? problemsOf(each, each.header, files) : ['its phase is missing (-- phase: expand)']
      return found.map((problem) => `${each.name}: ${problem}`)
    }),
    ...(['expand', 'migrate', 'contract'] as const).flatMap((phase) =>
      [true, false].flatMap((isInside) => {
        const fits = ({ header }: File) => header?.phase === phase && (header.mode === 'in a transaction') === isInside
        return squawk(judged.filter(fits), phase, isInside)
      }),
    ),
  ]
}

function readFile(file: string): File {
  const text = readFileSync(file, 'utf8')
  const plain = text.replaceAll(/--.*$/gm, '').toLowerCase()
  // A function's body has semicolons of its own.
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
  const demand = (isSo: boolean, problem: string) => isSo || problems.push(problem)

  demand(/^-- phase: /.test(text), 'its phase does not stand in the first line')
  if (phase === 'contract') {
    demand(
      /^-- needs: \w+$/m.test(text),
      'it does not say which versions can run after it (-- needs: a migration, or nothing)',
    )
    demand(because !== null, 'it does not say what made it safe (-- because: …)')
    demand(needs === null || earlier.some((other) => other.name === needs), `there is no ${needs} before it`)
    for (const column of statements.flatMap(madeNotNull))
      demand(wasChecked(column, earlier), `no earlier migration validated check (${column} is not null)`)
  } else {
    demand(needs === null && because === null, 'only a contract takes something away (-- needs, -- because)')
    const breaking = statements.find((s) => /\b(drop (table|column)|drop not null)\b|\brename\b/.test(s))
    demand(breaking === undefined, `running versions may use what it takes away: ${breaking}`)
  }
  if (mode === 'in batches') {
    demand(phase === 'migrate', 'batches belong to the phase migrate')
    demand(
      statements.length === 2 && readBatches(text) !== undefined,
      'it is not a batch, `-- left`, and what finds the rest',
    )
    demand(
      /\blimit (\d+)\b/.test(statements[0] ?? '') && sizeOf(statements[0]) <= 10_000,
      'its batch has no limit up to 10000',
    )
    demand(
      /\bfor (no key )?update skip locked\b/.test(statements[0] ?? ''),
      'its batch waits for rows (for update skip locked)',
    )
  } else {
    demand(
      !statements.some((s) => /^(update|delete)\b/.test(s)),
      'it changes rows all at once (-- phase: migrate, in batches)',
    )
  }
  if (mode === 'no transaction') {
    demand(statements.length === 1, 'without a transaction it can be only one statement')
    demand(/\bconcurrently\b|\bvalidate constraint\b/.test(statements[0] ?? ''), 'it needs a transaction')
    const isAgain = concurrentIndexOf(text) === undefined || /\bif not exists\b/.test(statements[0] ?? '')
    demand(isAgain, 'it cannot be done again after an interruption (if not exists)')
  } else {
    const outside = statements.find((s) => /\bconcurrently\b|\bvalidate constraint\b/.test(s))
    demand(outside === undefined, `it must not hold locks of a transaction (no transaction): ${outside}`)
  }
  return problems
}

const sizeOf = (statement = '') => Number(/\blimit (\d+)\b/.exec(statement)?.[1])
const madeNotNull = (statement: string) =>
  [...statement.matchAll(/alter (?:column )?(\w+) set not null/g)].map(([, column]) => column as string)
/** With a check that was validated PostgreSQL need not read the table under its strongest lock. */
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
  // Given here, the exceptions take the place of those in the file.
  // What runs alone is repeated as a whole; that it can be is seen to above.
  const alone = isInside ? [] : ['prefer-robust-stmts']
  const exceptions = [...readExceptions(), ...allowed[phase], ...alone].flatMap((rule) => ['--exclude', rule])
  const args = [...options, ...exceptions, ...files.map(({ file }) => file)]
  const { status, stdout, stderr, error } = spawnSync('squawk', args, { encoding: 'utf8' })
  if (error) return [error.message]
  return status === 0 ? [] : `${stdout}${stderr}`.trim().split('\n')
}
const readExceptions = () =>
  [...readFileSync(CONFIG, 'utf8').matchAll(/^ {2}"([\w-]+)",$/gm)].map(([, rule]) => rule as string)
