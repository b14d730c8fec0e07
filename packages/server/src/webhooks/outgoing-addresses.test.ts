import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { startDnsServer } from '@lockstep/testing/dns-server'
import { importMutated } from '@lockstep/testing/mutated-module'
import { freePort } from '@lockstep/testing/ports'
import { seeded } from '@lockstep/testing/random'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Outgoing, type OutgoingSettings, refusedUrl } from './outgoing.ts'

/** Stands for the public internet: an address that is allowed, beside 127.0.0.1, which is not. */
const ALLOWED = '127.0.0.2'
const settings: OutgoingSettings = {
  allowsHttp: true,
  allowedNetworks: [`${ALLOWED}/32`],
  allowedHosts: [],
  timeoutMs: 3_000,
}

/** Names and their addresses; those that change have one list for each query. */
const names: Record<string, readonly string[] | readonly (readonly string[])[]> = {
  'allowed.test': [ALLOWED],
  'loopback.test': ['127.0.0.1'],
  'loopback6.test': ['::1'],
  'any.test': ['0.0.0.0'],
  'any6.test': ['::'],
  'mapped.test': ['::ffff:127.0.0.1'],
  'nat64.test': ['64:ff9b::7f00:1'],
  'sixtofour.test': ['2002:7f00:1::'],
  'private.test': ['10.0.0.1'],
  'metadata.test': ['169.254.169.254'],
  'mixed.test': [ALLOWED, '127.0.0.1'],
  'mixed-first.test': ['127.0.0.1', ALLOWED],
  'mixed6.test': [ALLOWED, '::1'],
  'many.test': [...Array<string>(20).fill(ALLOWED), '127.0.0.1'],
  'rebinding.test': [[ALLOWED], ['127.0.0.1']],
  'xn--bcher-kva.test': ['127.0.0.1'],
}
const privateNames = Object.keys(names).filter((name) => name !== 'allowed.test' && name !== 'rebinding.test')

let port: number
let forbidden: { connections: number; bytes: number }
let allowed: { connections: number; bytes: number }
let dns: Awaited<ReturnType<typeof startDnsServer>>
const servers: Server[] = []

/** Counts connections, and responds to each request. */
async function listen(address: string, seen: () => { connections: number; bytes: number }) {
  const server = createServer((socket: Socket) => {
    seen().connections++
    socket.on('error', () => undefined)
    socket.on('data', (data) => {
      seen().bytes += data.length
      socket.end('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n')
    })
  })
  server.listen(port, address)
  await once(server, 'listening')
  servers.push(server)
}

beforeAll(async () => {
  port = await freePort()
  for (const address of ['127.0.0.1', '::1']) await listen(address, () => forbidden)
  await listen(ALLOWED, () => allowed)
  dns = await startDnsServer((name, query) => {
    const found = names[name]
    if (!Array.isArray(found?.[0])) return found as readonly string[] | undefined
    return (found as readonly (readonly string[])[])[Math.min(query, found.length - 1)]
  })
})
beforeEach(() => {
  forbidden = { connections: 0, bytes: 0 }
  allowed = { connections: 0, bytes: 0 }
  dns.queries.clear()
})
afterAll(() => {
  for (const server of servers) server.close()
  dns.close()
})

type OutgoingModule = typeof import('./outgoing.ts')
async function send(
  url: string,
  { Outgoing: Sender }: Pick<OutgoingModule, 'Outgoing'> = { Outgoing },
  other = settings,
) {
  const outgoing = new Sender(other, dns.newResolver())
  const result = await outgoing.send(url, {}, 'body')
  outgoing.close()
  return result
}

/** Spellings of this machine. */
const spellings = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '127.0.0.1.',
  '127.000.000.001',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0x7F.0x0.0x0.0x1',
  '0177.0.0.1',
  '017700000001',
  '0x7f.0.0.01',
  '１２７．０．０．１',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '127｡0｡0｡1',
  '%31%32%37.0.0.1',
  '%30x7f.1',
  '0',
  '0.0.0.0',
  '0x0',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[0000:0000:0000:0000:0000:0000:0000:0001]',
  '[::0001]',
  '[::]',
  '[::0.0.0.1]',
  '[::ffff:127.0.0.1]',
  '[::FFFF:7F00:1]',
  '[0:0:0:0:0:ffff:127.0.0.1]',
  '[::ffff:0:0]',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'a.localhost',
  'ｌｏｃａｌｈｏｓｔ',
  'loc%61lhost',
  'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
  'user:password@127.0.0.1',
  'allowed.test@127.0.0.1',
]
/** Other addresses that are not public, and forms that are not valid. */
const others = [
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '169.254.169.254',
  '100.64.0.1',
  '100.100.100.200',
  '192.0.0.192',
  '168.63.129.16',
  '198.18.0.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '127.0.0.3',
  '127.255.255.254',
  '[::127.0.0.1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[100::1]',
  '[5f00::1]',
  '[4000::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '[fe80::1%25lo]',
  '[fe80::1%lo]',
  '[::1%25lo]',
  '[fec0::1]',
  '[ff02::1]',
  '[::ffff:0x7f.1]',
  '127.0.0.256',
  '1.2.3.4.5',
  '0x100000000',
  '[v1.127]',
  '',
  'a b',
]

describe('an address that is not public', () => {
  test.each([...spellings, ...others])('[HOOK-17] [V30] %s is refused, and nothing connects', async (host) => {
    const url = `http://${host}:${port}/`
    expect(refusedUrl(url, settings)).toBeDefined()
    const { status, error, durationMs } = await send(url)
    expect({ status, error, durationMs }).toEqual({ status: null, error: 'unreachable', durationMs: 0 })
    expect(forbidden.connections).toBe(0)
  })

  test('[HOOK-17] the same spellings do connect if everything is allowed, so the test can fail', async () => {
    const open = { ...settings, allowedNetworks: ['0.0.0.0/0', '::/0'] }
    const statuses = await Promise.all(
      spellings.map(async (host) => (await send(`http://${host}:${port}/`, undefined, open)).status),
    )
    const refused = spellings.filter((_, i) => statuses[i] !== 204)
    expect(refused).toEqual(
      ['[::0.0.0.1]', '[::ffff:0:0]', 'user:password@127.0.0.1', 'allowed.test@127.0.0.1'].filter((host) =>
        refused.includes(host),
      ),
    )
    expect(forbidden.connections).toBeGreaterThan(spellings.length - 5)
  })

  test.each([
    'http:///127.0.0.1',
    'http:127.0.0.1',
    'http:\\\\127.0.0.1',
    ' http://127.0.0.1',
    'ht\ntp://127.0.0.1',
    'http://127.0.0.1\\@allowed.test',
  ])('[HOOK-17] %j is refused', async (start) => {
    const url = `${start.replace('127.0.0.1', `127.0.0.1:${port}`)}/`
    expect(refusedUrl(url, settings)).toBeDefined()
    expect((await send(url)).error).toBe('unreachable')
    expect(forbidden.connections).toBe(0)
  })

  test('[HOOK-17] 20,000 random spellings of private addresses are refused', () => {
    const { below, pick } = seeded(22)
    const networks = [[10], [127], [0], [172, 16], [192, 168], [169, 254], [100, 64], [198, 18], [224], [255]]
    const forms = [
      (n: number) => String(n),
      (n: number) => `0x${n.toString(16)}`,
      (n: number) => `0${n.toString(8)}`,
      (n: number) => `0x000${n.toString(16).toUpperCase()}`,
    ]
    const accepted = Array.from({ length: 20_000 }, () => {
      const bytes = [...pick(networks), below(256), below(256), below(256), below(256)].slice(0, 4)
      const last = 1 + below(4)
      const tail = bytes.slice(4 - last).reduce((sum, byte) => sum * 256 + byte, 0)
      const host = [...bytes.slice(0, 4 - last), tail].map((part) => pick(forms)(part)).join('.')
      return `https://${pick([host, host, `[::ffff:${bytes.join('.')}]`])}${pick(['', '.', ':8443'])}/`
    }).filter((url) => refusedUrl(url, settings) === undefined && !url.includes('127.0.0.2'))
    expect(accepted).toEqual([])
    // Public addresses in the same spellings are not.
    const control = [
      'https://0x08080808/',
      'https://8.8.2056/',
      'https://010.010.010.010/',
      'https://[2606:4700::1111]/',
    ]
    expect(control.map((url) => refusedUrl(url, settings))).toEqual(Array(4).fill(undefined))
  })
})

describe('a name', () => {
  test.each(privateNames)('[HOOK-17] [V30] a name with %s is refused, and nothing connects', async (name) => {
    const url = `http://${name}:${port}/`
    // Names are not resolved when a webhook is created.
    expect(refusedUrl(url, settings)).toBeUndefined()
    const result = await send(url)
    expect(result).toMatchObject({ status: null, error: 'unreachable', durationMs: 0, responseText: null })
    expect(result.reason).toMatch(/^refused address /)
    expect([forbidden.connections, allowed.connections]).toEqual([0, 0])
  })

  test('[HOOK-17] an international name is resolved in its ASCII form', async () => {
    expect((await send(`http://Bücher.test:${port}/`)).reason).toBe('refused address 127.0.0.1')
    expect([...dns.queries.keys()].some((query) => query.includes('xn--bcher-kva.test'))).toBe(true)
  })

  test('[HOOK-17] a name that changes its address after the check is connected to the address that was checked', async () => {
    expect((await send(`http://rebinding.test:${port}/`)).status).toBe(204)
    expect([forbidden.connections, allowed.connections]).toEqual([0, 1])
    expect((await send(`http://rebinding.test:${port}/`)).reason).toBe('refused address 127.0.0.1')
    expect(forbidden.connections).toBe(0)
  })

  test('[HOOK-17] owners cannot tell an unknown name, a refused address and a closed port apart', async () => {
    const closed = await freePort()
    const results = await Promise.all(
      [`http://unknown.test:${port}/`, `http://private.test:${port}/`, `http://allowed.test:${closed}/`].map((url) =>
        send(url),
      ),
    )
    expect(results.map(({ reason }) => reason)).toEqual(['ENOTFOUND', 'refused address 10.0.0.1', 'ECONNREFUSED'])
    const [first, ...rest] = results.map((result) => ({ ...result, reason: null }))
    for (const result of rest) expect(result).toEqual(first)
  })

  test('[HOOK-17] a DNS server that does not respond is unreachable, too', async () => {
    const slow = { ...settings, timeoutMs: 10_000 }
    const { Resolver } = await import('node:dns/promises')
    const resolver = new Resolver({ timeout: 500, tries: 1 })
    resolver.setServers([`127.0.0.2:${port}`])
    const outgoing = new Outgoing(slow, resolver)
    expect(await outgoing.send(`http://allowed.test:${port}/`, {}, '')).toMatchObject({ error: 'unreachable' })
    outgoing.close()
  })
})

describe('each check is needed', () => {
  const root = 'packages/server/src'
  const mutated = (...changes: [string, string, string][]) =>
    importMutated<OutgoingModule>(root, ['platform', 'webhooks'], 'webhooks/outgoing.ts', changes)
  const outgoing = 'webhooks/outgoing.ts'
  const withoutCheck: [string, string, string] = [
    outgoing,
    'if (refused !== undefined) throw refusedAddress(refused)',
    '',
  ]

  test('[HOOK-17] without the check of resolved addresses there are connections, but no byte is sent', async () => {
    const module = await mutated(withoutCheck)
    for (const name of ['loopback.test', 'mixed-first.test']) {
      expect((await send(`http://${name}:${port}/`, module)).reason).toBe('refused address 127.0.0.1')
    }
    expect(forbidden).toEqual({ connections: 2, bytes: 0 })
    // With TLS, the check is before the handshake.
    expect((await send(`https://loopback.test:${port}/`, module)).reason).toBe('refused address 127.0.0.1')
    expect(forbidden).toEqual({ connections: 3, bytes: 0 })
  })

  test('[HOOK-17] also without the check of the connected address, requests arrive', async () => {
    const module = await mutated(withoutCheck, [
      outgoing,
      'if (this.rules.isAllowedAddress(address)) return socket',
      'return socket',
    ])
    expect((await send(`http://loopback.test:${port}/`, module)).status).toBe(204)
    expect(forbidden.bytes).toBeGreaterThan(0)
  })

  test('[HOOK-17] with a second lookup for the connection, a name that changes reaches the other address', async () => {
    const module = await mutated([
      outgoing,
      'lookup: (_name, _options, done) => done(null, found),',
      'lookup: (name, _options, done) => this.resolver.resolve4(name).then((all) => done(null, all.map((address) => ({ address, family: 4 })))),',
    ])
    await send(`http://rebinding.test:${port}/`, module)
    expect(forbidden.connections).toBe(1)
  })

  test('[HOOK-17] without the check of literal addresses, this machine is reached', async () => {
    const module = await mutated(withoutCheck, [
      'webhooks/outgoing-rules.ts',
      "return address === undefined ? undefined : 'The address is not public.'",
      'return undefined',
    ])
    await send(`http://0x7f.1:${port}/`, module)
    expect(forbidden.connections).toBe(1)
  })
})

describe('a URL', () => {
  const strict = { ...settings, allowsHttp: false }

  test.each([
    ['http://hooks.example/', 'The URL must begin with https://.'],
    ['ftp://hooks.example/', 'The URL must begin with https://.'],
    ['file:///etc/passwd', 'The URL must begin with https://.'],
    ['gopher://hooks.example/', 'The URL must begin with https://.'],
    ['ws://hooks.example/', 'The URL must begin with https://.'],
    ['javascript:alert(1)', 'The URL must begin with https://.'],
    ['data:text/plain,a', 'The URL must begin with https://.'],
    ['hooks.example', 'The URL is not valid.'],
    ['', 'The URL is not valid.'],
    ['https://', 'The URL is not valid.'],
    ['https://user@hooks.example/', 'The URL must not have a user name or a password.'],
    ['https://:password@hooks.example/', 'The URL must not have a user name or a password.'],
    ['https://hooks.example/#a', 'The URL must not have a fragment.'],
    ['https://hooks.example/#', 'The URL must not have a fragment.'],
    ['https://10.0.0.1/', 'The address is not public.'],
  ])('[HOOK-17] %s is refused: %s', (url, sentence) => {
    expect(refusedUrl(url, strict)).toBe(sentence)
  })

  test('[HOOK-17] ports below 1024, except 80 and 443, and those of other protocols are refused', () => {
    const isAllowed = (each: number) => refusedUrl(`https://hooks.example:${each}/`, strict) === undefined
    const low = Array.from({ length: 1_024 }, (_, i) => i)
    expect(low.filter(isAllowed)).toEqual([80, 443])
    expect([1720, 2049, 3659, 4045, 5060, 5061, 6000, 6566, 6665, 6669, 6697, 10080].filter(isAllowed)).toEqual([])
    expect([1024, 3000, 8000, 8080, 8443, 65535].every(isAllowed)).toBe(true)
    expect(refusedUrl('https://hooks.example:22/', strict)).toBe('Port 22 is not allowed.')
    expect(refusedUrl('https://hooks.example:65536/', strict)).toBe('The URL is not valid.')
  })

  test('[HOOK-17] with allowed hosts, all other hosts are refused, and allowed ones must still be public', async () => {
    const some = { ...settings, allowedHosts: ['allowed.test', '*.example.org', 'loopback.test', '127.0.0.2'] }
    const isAllowed = (host: string) => refusedUrl(`http://${host}:${port}/`, some) === undefined
    expect(['allowed.test', 'ALLOWED.test.', 'a.example.org', 'a.b.example.org', '127.0.0.2'].every(isAllowed)).toBe(
      true,
    )
    expect(
      ['example.org', 'notexample.org', 'allowed.test.example', 'a.allowed.test', '8.8.8.8', '127.0.0.1'].filter(
        isAllowed,
      ),
    ).toEqual([])
    expect((await send(`http://mixed.test:${port}/`, undefined, some)).error).toBe('unreachable')
    expect((await send(`http://loopback.test:${port}/`, undefined, some)).reason).toBe('refused address 127.0.0.1')
    expect((await send(`http://allowed.test:${port}/`, undefined, some)).status).toBe(204)
    expect(forbidden.connections).toBe(0)
  })
})
