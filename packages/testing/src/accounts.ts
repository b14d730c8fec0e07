import { randomBytes } from 'node:crypto'
import { Client } from './client.ts'
import { PASSWORD } from './secrets.ts'

export interface Account {
  id: string
  email: string
  username: string
  password: string
  token: string
}

/** Registers a user and logs in. */
export async function newAccount(
  baseUrl: string,
  username = `user-${randomBytes(6).toString('hex')}`,
): Promise<Account> {
  const anonymous = new Client(baseUrl)
  const email = `${username}@example.com`
  const { id } = await anonymous.call('register', { body: { email, username, password: PASSWORD } })
  const { access_token: token } = await anonymous.call('login', { body: { username: email, password: PASSWORD } })
  return { id, email, username, password: PASSWORD, token }
}
