import { randomBytes } from 'node:crypto'
import { makeTokens } from '@lockstep/testing/load/environment'
import { HttpClient, inParallel } from '@lockstep/testing/load/http-client'

/** An account and its boards, with what attacks need of them. */
export interface Account {
  id: string
  email: string
  token: string
  boards: { id: string; column: string; cards: string[]; start: string }[]
  /** The path of an attachment. */
  file: string
}

export interface Prepared {
  bystander: Account[]
  /** Accounts without data, for attacks that use up the limits of an account. */
  crowd: Account[]
  owners: Partial<Record<Owner, Account>>
}

const PASSWORD = 'a-long-enough-pass-phrase-of-nobody'
const AT_ONCE = 4
const BOUNDARY = 'between-parts'
const PART = 'Content-Disposition: form-data; name="file"; filename="file.bin"\r\nContent-Type: application/x-test'
export const MULTIPART = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
export const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

export const fileForm = (content: Buffer) =>
  Buffer.concat([Buffer.from(`--${BOUNDARY}\r\n${PART}\r\n\r\n`), content, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)])
export const loginForm = (email: string) =>
  Buffer.from(new URLSearchParams({ username: email, password: PASSWORD }).toString())
export const logIn = (client: HttpClient, email: string) =>
  client.request('POST', '/auth/login', FORM, [loginForm(email)])
/** The longest text, which compresses to three quarters at best. */
export const longText = () => randomBytes(49_152).toString('base64')

/**
 * The accounts that attack, and what each of them stores at full size, close to the default quotas: boards of 8 MB in 118 cards,
 * and events of 0.26 MB for each rename of a column of four cards.
 */
const owners = {
  history: async (store: Store) => {
    const { column } = await store.board(4)
    for (let i = 0; i < store.sized(120); i++)
      await store.client.json('PATCH', `/columns/${column}`, { title: `Renamed ${i}` })
  },
  boards: async (store: Store) => {
    for (let i = 0; i < 20; i++) await store.board(store.sized(118))
  },
  lists: (store: Store) =>
    times(store.sized(490), () => store.post('/boards', { title: 'Board', description: longText() })),
  sockets: async (store: Store) => {
    for (let i = 0; i < 10; i++) await store.board(16)
  },
  files: async (store: Store) => {
    const { cards } = await store.board(1)
    const form = fileForm(randomBytes(store.sized(10_000_000)))
    const { bytes } = await store.client.request('POST', `/cards/${cards[0]}/attachments`, MULTIPART, [form])
    store.account.file = `/attachments/${(JSON.parse(bytes.toString()) as { id: string }).id}`
  },
}
export type Owner = keyof typeof owners

/** Stores the data of some owners at a service without limits. `scale` is 1 for the full size. */
export async function prepare(baseUrl: string, scale: number, names: Owner[]): Promise<Prepared> {
  const prepared: Prepared = {
    bystander: await registerAll(baseUrl, 'bystander', 12),
    crowd: await registerAll(baseUrl, 'crowd', Math.ceil(96 * scale)),
    owners: {},
  }
  for (const name of names) {
    const [account] = (await registerAll(baseUrl, name, 1)) as [Account]
    using client = new HttpClient(baseUrl, account.token)
    await owners[name](storeOf(client, account, scale))
    prepared.owners[name] = account
  }
  return prepared
}

async function registerAll(baseUrl: string, name: string, count: number): Promise<Account[]> {
  using client = new HttpClient(baseUrl, '')
  const accounts: Account[] = []
  await times(count, async (nth) => {
    const username = `${name}-${nth}`
    const email = `${username}@example.com`
    const { id } = await post(client, '/auth/register', { email, username, password: PASSWORD })
    const [token = ''] = await makeTokens([id])
    accounts.push({ id, email, token, boards: [], file: '' })
  })
  return accounts
}

function storeOf(client: HttpClient, account: Account, scale: number) {
  const own = (path: string, content: unknown) => post(client, path, content)
  const board = async (cards: number) => {
    const { id } = await own('/boards', { title: 'Everything' })
    const { id: column, position: start } = await own(`/boards/${id}/columns`, { title: 'All of it' })
    const made: Account['boards'][number] = { id, column, start, cards: [] }
    await times(cards, async () => {
      const content = { title: 'Card', description: longText() }
      made.cards.push((await own(`/boards/${id}/columns/${column}/cards`, content)).id)
    })
    account.boards.push(made)
    return made
  }
  return { client, account, post: own, board, sized: (count: number) => Math.ceil(count * scale) }
}
type Store = ReturnType<typeof storeOf>

const times = (count: number, work: (nth: number) => Promise<unknown>) =>
  inParallel([...Array(count).keys()], AT_ONCE, async (nth) => void (await work(nth)))

async function post(client: HttpClient, path: string, content: unknown) {
  const { status, bytes, headers } = await client.json('POST', path, content)
  if (status !== 201) throw new Error(`The preparation was answered ${status}: ${bytes.toString()}`)
  return { id: (JSON.parse(bytes.toString()) as { id: string }).id, position: String(headers['board-position']) }
}
