import pg from 'pg'
import { endProcesses } from '../../packages/server/testing/processes.ts'
import { databaseUrl, onServer } from '../../packages/server/testing/template-database.ts'
import { type Seed, type Seeded, seedBoards } from '../../scripts/seed-boards.ts'
import { filledTables, judge, type Mode, type Sight, watchPlans } from './plan-checks.ts'
import type { Progress, Report } from './report.ts'

const CARDS = 1_000
const FEW = 100
const MORE = 900
/** Small teams beside them, so that the tables of boards and people too are worth an index, and grow: at first, and then. */
const SMALL = { few: 2_000, more: 8_000 }
const modes: Record<Mode, string> = {
  force_generic_plan: 'plans for any arguments',
  auto: 'plans as PostgreSQL chooses',
}

/** A million cards: what an operation on a board reads does not grow with the other boards. */
export async function prove(progress: Progress): Promise<Report> {
  const name = `lockstep_plans_${process.pid}`
  const database_url = databaseUrl(name)
  const sql = new pg.Pool({ connectionString: database_url, max: 2 })
  try {
    const seed = seeding(database_url, progress)
    const seeded = await seed({ boards: FEW, cards: CARDS })
    await seed({ boards: SMALL.few, cards: 1 })
    const watch = async (mode: Mode, names?: string[]) => {
      const sights = await watchPlans(sql, database_url, seeded, mode, names)
      progress(`${modes[mode]}: ${sights.length} operations explained`)
      return sights
    }
    const before = await watch('force_generic_plan')
    await seed({ boards: MORE, cards: CARDS })
    await seed({ boards: SMALL.more, cards: 1 })
    const after = { force_generic_plan: await watch('force_generic_plan'), auto: await watch('auto') }
    const filled = await filledTables(sql)
    const violations = Object.entries(after).flatMap(([mode, sights]) =>
      judge(before, sights, filled).map((sentence) => `${modes[mode as Mode]}: ${sentence}`),
    )
    // A checker that finds nothing must be shown to find something.
    await sql.query('drop index board_members_by_user')
    const noticed = judge(before, await watch('auto', ['listBoards']), filled)
    progress(`without an index: ${noticed.join('; ')}`)
    if (noticed.length === 0) violations.push('nobody noticed that an index was missing')
    return {
      title: 'Plans on a million cards',
      setting: {
        boards: `${FEW} of ${CARDS} cards and ${SMALL.few} small ones, then ${FEW + MORE} and ${SMALL.few + SMALL.more}`,
        times: 'each operation twice with plans for any arguments, seven times with those that PostgreSQL chooses',
      },
      sections: [sectionOf(before, after), { heading: 'Without an index', text: `${noticed.join('; ')}.` }],
      violations,
    }
  } finally {
    await endProcesses()
    await sql.end()
    await onServer((client) => client.query(`drop database if exists ${name} with (force)`))
  }
}

const seeding = (database_url: string, progress: Progress) => async (size: Pick<Seed, 'boards' | 'cards'>) => {
  let told = 0
  const tell = (done: number) => {
    if (done < told + size.boards / 10) return
    told = done
    progress(`${done} of ${size.boards} boards of ${size.cards} cards`)
  }
  const seeded: Seeded = await seedBoards({ database_url, ...size, progress: tell })
  return seeded
}

function sectionOf(before: Sight[], after: Record<Mode, Sight[]>) {
  const hundredth = (value: number) => Math.round(value * 100) / 100
  const rows = before.map((base, i) => {
    const [generic, chosen] = [after.force_generic_plan[i] as Sight, after.auto[i] as Sight]
    return [
      base.operation,
      generic.statements,
      base.rows,
      generic.rows,
      chosen.rows,
      base.pages,
      generic.pages,
      chosen.pages,
      hundredth(generic.ms),
      hundredth(chosen.ms),
      Math.max(generic.compiled, chosen.compiled),
    ]
  })
  return {
    heading: 'What each operation reads',
    text: 'Rows looked at and pages touched, at their worst, while there were few boards; then with all of them, with plans for any arguments and with those that PostgreSQL chooses. The time is that of the statements in PostgreSQL, which explains each of them meanwhile.',
    table: {
      columns: ['', 'statements', 'rows', 'all', 'chosen', 'pages', 'all', 'chosen', 'ms', 'chosen ms', 'compiled'],
      rows,
    },
  }
}
