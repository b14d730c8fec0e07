import type { Client, ListName, Operations } from '@lockstep/client'

const LARGE_PAGE = 100

/** All pages of a list. */
export async function listAll<N extends ListName>(
  client: Client,
  name: N,
  input: Operations[N]['input'],
): Promise<Operations[N]['result']> {
  const all: unknown[] = []
  for await (const page of client.pages(name, { limit: LARGE_PAGE, ...input })) all.push(...page)
  return all as Operations[N]['result']
}
