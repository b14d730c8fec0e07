import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { HttpClient, type HttpResponse } from '@lockstep/testing/load/http-client'
import { handleCommands } from '@lockstep/testing/load/worker'
import { WebSocket } from 'ws'
import { type Action, OpenLoop } from './open-loop.ts'
import { type Account, fileForm, logIn, MULTIPART } from './prepare.ts'

/** In its own process, so that the attacker does not delay the measurement. */
export type BystanderCommand = ({ do: 'prepare' } & Place) | { do: 'begin' } | { do: 'finish' }
interface Place {
  baseUrl: string
  localAddress: string
  accounts: Account[]
}

const PATIENCE_MS = 10_000
const WORDS = 'some words about the task '

/** A careful user with a small board. Nobody else changes it. */
async function makeBystander({ baseUrl, localAddress, accounts }: Place) {
  const token = accounts[0]?.token ?? ''
  const options = { localAddress, timeoutMs: PATIENCE_MS }
  const client = new HttpClient(baseUrl, token, options)
  const file = fileForm(randomBytes(50_000))

  const get = async (path: string) => expectStatus(200, await client.request('GET', path))
  const post = async (path: string, content: unknown, status = 201) =>
    expectStatus(status, await client.json('POST', path, content))
  const upload = async () =>
    expectStatus(201, await client.request('POST', `${cards[1]}/attachments`, MULTIPART, [file]))
  const make = async (path: string, content: unknown) => idOf(await post(path, content))

  const board_id = await make('/boards', { title: 'Plan' })
  const board = `/boards/${board_id}`
  const columns = [
    await make(`${board}/columns`, { title: 'To do' }),
    await make(`${board}/columns`, { title: 'Done' }),
  ]
  const newCard = `${board}/columns/${columns[0]}/cards`
  const cards: string[] = []
  for (let i = 0; i < 20; i++)
    cards.push(`/cards/${await make(newCard, { title: `Card ${i}`, description: WORDS.repeat(10) })}`)
  for (let i = 0; i < 5; i++) await make(`${board}/labels`, { name: `Label ${i}` })
  for (let i = 0; i < 10; i++) await make(`${cards[0]}/comments`, { body: WORDS })
  const attachment = `/attachments/${idOf(await upload())}`

  const open = () => {
    const address = `${baseUrl.replace('http', 'ws')}/ws${board}?seq=1&token=${token}`
    return new WebSocket(address, { localAddress, handshakeTimeout: PATIENCE_MS }).on('error', () => {})
  }
  const connect = async () => {
    const socket = open()
    await firstMessage(socket).finally(() => socket.terminate())
  }

  /** Titles whose event has not arrived yet. */
  const awaited = new Map<string, PromiseWithResolvers<void>>()
  let hasLeft = false
  let listener: WebSocket
  /** Keeps a socket open. When it closes, the awaited events have failed, and another one is opened. */
  const listen = async () => {
    listener = open()
    listener.on('message', (data: Buffer) => {
      const text = data.toString()
      if (text.includes('"type":"ping"')) listener.send('{"type":"pong"}')
      awaited.get(/"title":"(w-\d+)"/.exec(text)?.[1] ?? '')?.resolve()
    })
    listener.once('close', (code) => {
      for (const { reject } of awaited.values()) reject(new Error(`the socket was closed with ${code}`))
      if (!hasLeft) setTimeout(() => void listen().catch(() => {}), 300)
    })
    await firstMessage(listener)
  }
  await listen()

  let changes = 0
  /** A change, until its response and its event have arrived. */
  const change = async () => {
    const title = `w-${++changes}`
    const arrived = Promise.withResolvers<void>()
    const timer = setTimeout(() => arrived.reject(new Error('the event did not arrive')), PATIENCE_MS)
    awaited.set(title, arrived)
    const changed = client.json('PATCH', cards[15] as string, { title }).then((reply) => expectStatus(200, reply))
    await Promise.all([changed, arrived.promise]).finally(() => {
      clearTimeout(timer)
      awaited.delete(title)
    })
  }
  const logInAs = async (email: string) => {
    using own = new HttpClient(baseUrl, '', options)
    expectStatus(200, await logIn(own, email))
  }

  const nextList = taking([...Array<string>(4).fill(`${board}/labels`), '/boards'])
  const nextCard = taking(cards.slice(2, 13))
  const nextColumn = taking(columns)
  // Several accounts, to stay below the limit of one.
  const nextEmail = taking(accounts.map(({ email }) => email))
  const actions: Action[] = [
    { kind: 'me', everyMs: 200, act: () => get('/auth/me') },
    { kind: 'list', everyMs: 200, act: () => get(nextList()) },
    { kind: 'card', everyMs: 200, act: () => get(cards[0] as string) },
    { kind: 'board', everyMs: 250, act: () => get(board) },
    { kind: 'search', everyMs: 300, act: () => get(`${board}/cards?search=words`) },
    { kind: 'inbox', everyMs: 300, act: () => get('/me/inbox') },
    { kind: 'history', everyMs: 300, act: () => get(`${board}/events?limit=50`) },
    { kind: 'comments', everyMs: 300, act: () => get(`${cards[0]}/comments`) },
    { kind: 'upload', everyMs: 500, act: upload },
    { kind: 'download', everyMs: 400, act: () => get(attachment) },
    { kind: 'create', everyMs: 400, act: () => post(newCard, { title: 'New' }) },
    { kind: 'move', everyMs: 400, act: () => post(`${nextCard()}/move`, { column_id: nextColumn() }, 200) },
    { kind: 'connect', everyMs: 500, act: connect },
    { kind: 'event', everyMs: 250, act: change },
    { kind: 'login', everyMs: 500, act: () => logInAs(nextEmail()) },
  ]
  const loop = new OpenLoop()
  return {
    begin: () => loop.begin(actions),
    finish: () => loop.end(),
    leave: () => {
      hasLeft = true
      client.close()
      listener.terminate()
    },
  }
}

/** Returns a function that returns the items in turn. */
function taking<T>(items: readonly T[]) {
  let nth = 0
  return () => items[nth++ % items.length] as T
}

async function firstMessage(socket: WebSocket) {
  const closed = once(socket, 'close').then(([code]) => {
    throw new Error(`closed with ${String(code)}`)
  })
  await Promise.race([once(socket, 'message', { signal: AbortSignal.timeout(PATIENCE_MS) }), closed])
}

const idOf = ({ bytes }: HttpResponse) => (JSON.parse(bytes.toString()) as { id: string }).id

/** Throws an error with the status and the problem code. */
function expectStatus(expected: number, reply: HttpResponse): HttpResponse {
  const { status, bytes } = reply
  if (status === expected) return reply
  throw new Error(`${status} ${/"code":"(\w+)"/.exec(bytes.toString())?.[1] ?? ''}`.trim())
}

let bystander: Awaited<ReturnType<typeof makeBystander>> | undefined
handleCommands<BystanderCommand>(async (command) => {
  if (command.do === 'prepare') {
    bystander?.leave()
    bystander = await makeBystander(command)
  }
  if (command.do === 'begin') bystander?.begin()
  return command.do === 'finish' ? bystander?.finish() : undefined
})
