import { randomUUID } from 'node:crypto'
import { type Client, createClient } from '@lockstep/client'
import type { FullBoard } from '@lockstep/client/live'
import type { Random } from '@lockstep/testing/random'
import { PASSWORD } from '@lockstep/testing/secrets'

/** A user of one of the instances. */
export interface SoakUser {
  id: string
  email: string
  client: Client
}
/** A board that the users share. */
export interface SharedBoard {
  id: string
  owner: SoakUser
  members: SoakUser[]
  /** Is invited and removed again and again. */
  guest: SoakUser
  /** The last read state, for conditional requests. */
  known?: { etag: string | undefined; data: FullBoard }
}

export async function register(baseUrl: string): Promise<SoakUser> {
  const username = `soak-${randomUUID().slice(0, 13)}`
  const email = `${username}@example.com`
  const client = createClient({ baseUrl: baseUrl })
  const { id } = await client.register({ email, username, password: PASSWORD })
  await client.login({ username: email, password: PASSWORD })
  return { id, email, client }
}

/** Logs in, reads the boards, and logs out again. */
export async function logInAndOut({ email, client }: SoakUser) {
  const brief = createClient({ baseUrl: client.baseUrl })
  try {
    await brief.login({ username: email, password: PASSWORD })
    await brief.getMe()
    await brief.listBoards()
    await brief.session.renew()
    await brief.logout()
  } finally {
    brief.close()
  }
}

const CARDS = 12

/** Creates a board with members, columns, labels, cards, and a rule that moves labelled cards. */
export async function createSharedBoard(people: readonly SoakUser[], random: Random): Promise<SharedBoard> {
  const [owner, guest, ...members] = random.shuffled(people).slice(0, 6) as [SoakUser, SoakUser, ...SoakUser[]]
  const { client } = owner
  const { id: board_id } = await client.createBoard({ title: 'Plan' })
  for (const { id: user_id } of members) await client.inviteMember({ board_id, user_id })
  const columns = []
  for (const title of ['To do', 'Doing', 'Done']) columns.push(await client.createColumn({ board_id, title }))
  const label = await client.createLabel({ board_id, name: 'Done with it' })
  await client.createLabel({ board_id, name: 'Later' })
  await client.createRule({
    board_id,
    name: 'What is labelled is done',
    trigger_type: 'LABEL_ADDED',
    trigger_label_id: label.id,
    action_type: 'MOVE_TO_COLUMN',
    action_column_id: columns[2]?.id ?? '',
  })
  for (let i = 0; i < CARDS; i++)
    await client.createCard({ board_id, column_id: columns[i % 2]?.id ?? '', title: `Card ${i}` })
  return { id: board_id, owner, members, guest }
}
