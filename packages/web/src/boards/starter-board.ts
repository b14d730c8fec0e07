import { client } from '../session.ts'

/** What a board usually begins with. */
export const usualColumns = [
  { title: 'To do', color: '#8a8171' },
  { title: 'Doing', color: '#b45309' },
  { title: 'Done', color: '#2f7a4a', is_done_column: true },
]

/** The first board of somebody new, so that there is a place for the first card. */
export async function makeStarterBoard(): Promise<string> {
  const { id: board_id } = await client.createBoard({ title: 'My first board' })
  for (const column of usualColumns) await client.createColumn({ board_id, ...column })
  return board_id
}
