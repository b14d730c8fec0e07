import { mutatedServer, type ServerMutation } from '@lockstep/testing/mutated-server'
import { startServiceProcess } from '@lockstep/testing/processes'
import { openSql } from '@lockstep/testing/template-database'
import { runLifetimes } from './lifetimes.ts'

const QUERIES = 'boards/full-board-queries.ts'

/** Defects that leave an old text in the cache. Random lifetimes must find each. */
export const mutations: Record<string, ServerMutation> = {
  'a card that was only re-spaced is missed': {
    file: QUERIES,
    original: "union select (data ->> 'id')::uuid from log where type like 'card.%'",
    mutated: '',
  },
  'the card that an item left is missed': {
    file: QUERIES,
    original: "checklist.id in (log.from_id, (log.data ->> 'checklist_id')::uuid)",
    mutated: "checklist.id = (log.data ->> 'checklist_id')::uuid",
  },
  'the cards of a restored column are missed': {
    file: QUERIES,
    original: "where log.type = 'column.created'",
    mutated: 'where false',
  },
  'a renamed label is missed': {
    file: QUERIES,
    original: "('label.updated', 'label.deleted')",
    mutated: "('label.deleted')",
  },
  'a card that was archived stays': {
    file: 'boards/full-board-text.ts',
    original: 'if (!changed.has(piece.id)) cards.push(piece)',
    mutated: 'cards.push(piece)',
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
