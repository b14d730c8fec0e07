import { mutatedServer, type ServerMutation } from '@lockstep/testing/mutated-server'
import { startServiceProcess } from '@lockstep/testing/processes'
import { openSql } from '@lockstep/testing/template-database'
import { runLifetimes } from './lifetimes.ts'

const QUERIES = 'boards/full-board-queries.ts'

/** Defects that leave an old text in the cache. Random lifetimes must find each. */
export const mutations: Record<string, ServerMutation> = {
  'a card that was only re-spaced is missed': {
    file: QUERIES,
    original: "'card.moved': 'card'",
    mutated: "'card.moved': 'none'",
  },
  'the card that an item left is missed': {
    file: QUERIES,
    original: "checklist.id in (log.from_id, (log.data ->> 'checklist_id')::uuid)",
    mutated: "checklist.id = (log.data ->> 'checklist_id')::uuid",
  },
  'the cards of a restored column are missed': {
    file: QUERIES,
    original: "'column.created': 'column'",
    mutated: "'column.created': 'none'",
  },
  'a renamed label is missed': {
    file: QUERIES,
    original: "'label.updated': 'any'",
    mutated: "'label.updated': 'none'",
  },
  'a card that was archived stays': {
    file: 'boards/full-board-text.ts',
    original: 'filter(({ id }) => !changedIds.has(id))',
    mutated: 'slice()',
  },
}

/** Whether random lifetimes find the mutation. The settings name a database of its own. */
export async function findsMutation(
  mutation: ServerMutation,
  settings: Record<string, string>,
  { seeds, steps }: { seeds: readonly number[]; steps: number },
): Promise<boolean> {
  const service = await startServiceProcess(settings, await mutatedServer(mutation))
  const sql = openSql(settings['DATABASE_URL'] as string)
  const urls = () => [service.baseUrl]
  try {
    for (const seed of seeds) {
      const { violations } = await runLifetimes({ seeds: [seed], steps, concurrency: 1, urls, sql })
      if (violations.length > 0) return true
    }
    return false
  } finally {
    await sql.end()
    await service.end('SIGKILL')
  }
}
