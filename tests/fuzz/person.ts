import { randomUUID } from 'node:crypto'
import type { Client } from '@lockstep/testing/client'
import type { Person } from './world.ts'

const PASSWORD = 'hush-hush correct horse of everybody'

/** Registers somebody and logs him in. */
export async function newPerson(anybody: Client): Promise<Person> {
  const username = `person-${randomUUID().slice(0, 13)}`
  const email = `${username}@example.com`
  const { id } = await anybody.call('register', { body: { email, username, password: PASSWORD } })
  const { access_token: token } = await anybody.call('login', { body: { username: email, password: PASSWORD } })
  return { id, token, email, password: PASSWORD }
}
