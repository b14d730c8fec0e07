import type { Random } from '@lockstep/testing/random'
import type { KnownResources } from './known-resources.ts'
import { CANARY } from './values.ts'

export type Header = readonly [name: string, value: string]

/** Unusual, invalid or oversized headers, in addition to the documented ones. */
export function oddHeaders(random: Random, known: KnownResources): Header[] {
  const tag = random.pick(known.tags)
  const names = ['If-Match', 'If-None-Match', 'Idempotency-Key', 'Range']
  const values = [
    '',
    '*',
    '"',
    'W/"x"',
    tag,
    `W/${tag}`,
    `${tag}, "x"`,
    CANARY,
    'x'.repeat(300),
    'ü',
    '\x80\xff',
    '"a" "b"',
    ',,,',
    'bytes=0-',
  ]
  const ranges = [
    'bytes=0-0',
    'bytes=-1',
    'bytes=5-2',
    'bytes=0-,5-6',
    'bytes=99999999999999999999-',
    'bytes=',
    'lines=1',
    'bytes=-0',
    'bytes=--1',
    'bytes=1-1e9',
  ]
  return random.pick<() => Header[]>([
    () => [[random.pick(names), random.pick(values)]],
    () => [['Range', random.pick(ranges)]],
    () => [
      ['If-Range', random.pick([tag, '"x"', 'Tue, 01 Jan 2030 00:00:00 GMT'])],
      ['Range', random.pick(ranges)],
    ],
    () => {
      const name = random.pick(names)
      return [
        [name, random.pick(values)],
        [name, random.pick(values)],
      ]
    },
    () => [
      [
        'Origin',
        random.pick([
          'null',
          'https://evil.example',
          'http://127.0.0.1',
          '',
          '*',
          CANARY,
          'http://[::1',
          'x'.repeat(500),
        ]),
      ],
    ],
    () => [
      [
        'Accept-Encoding',
        random.pick([
          'gzip',
          'br',
          'zstd',
          'gzip;q=0',
          '*;q=0',
          'identity;q=0',
          'gzip;q=x,br;q=2',
          ',',
          '',
          'gzip, deflate, br, zstd',
        ]),
      ],
    ],
    () => [['Accept', random.pick(['text/html', 'application/xml', '*/*;q=0', '', 'x', 'application/json;q=0'])]],
    () => [
      [
        'Cookie',
        random.pick([
          `svc_auth=${CANARY}`,
          'svc_auth=',
          '=',
          ';;;',
          `svc_auth=${'x'.repeat(3_000)}`,
          'svc_auth="',
          '__proto__=x',
          'a=%zz',
        ]),
      ],
    ],
    () => [['X-Forwarded-For', random.pick(['1.2.3.4, 5.6.7.8', CANARY, '', ',,,', '::1', 'x'.repeat(2_000)])]],
    () => [
      ['X-Forwarded-Proto', 'https, x'],
      ['X-Forwarded-Host', CANARY],
      ['Forwarded', 'for=x;;'],
    ],
    () => [['X-HTTP-Method-Override', random.pick(['DELETE', 'PATCH', CANARY])]],
    () => [['X-Long', 'x'.repeat(random.pick([2_000, 14_000, 20_000]))]],
    () => Array.from({ length: random.pick([50, 300]) }, (_, i): Header => [`X-${i}`, 'y']),
    () => [
      ['Upgrade', random.pick(['h2c', 'websocket', 'TLS/1.0'])],
      ['Connection', 'Upgrade'],
    ],
    () => [['Content-Encoding', random.pick(['gzip', 'br', 'identity', 'x', ''])]],
    () => [
      [
        'Content-Type',
        random.pick([
          '',
          'text/plain',
          'application/json; charset=utf-16',
          'application/json; charset="utf-8"',
          'application/vnd.api+json',
          'application/jsonx',
          ';',
          '/',
          CANARY,
          'multipart/form-data; boundary=x',
          'application/json, text/plain',
        ]),
      ],
    ],
    () => [
      ['Sec-Fetch-Site', random.pick(['cross-site', 'same-site', 'none', CANARY])],
      ['Cookie', 'svc_auth=x'],
    ],
    () => [
      ['Traceparent', random.pick(['00-0-0-0', CANARY])],
      ['X-Request-Id', CANARY],
    ],
    () => [
      ['__proto__', CANARY],
      ['constructor', CANARY],
      ['toString', 'x'],
    ],
    () => [
      ['Prefer', 'respond-async'],
      ['TE', 'trailers'],
      ['Via', '1.1 x'],
      ['Max-Forwards', '-1'],
    ],
  ])()
}

/** A token where it may stand, in the spellings that HTTP allows: the scheme in any case, more than one space. */
export function goodCredential(random: Random, token: string): Header {
  const dice = random.below(24)
  if (dice < 2) return ['Cookie', `svc_auth=${token}`]
  return ['Authorization', `${dice === 2 ? 'bearer  ' : 'Bearer '}${token}`]
}

/** Invalid Authorization headers. All of them must be rejected. */
export function badCredentials(random: Random, token: string): Header[] {
  const [head = '', claims = '', sign = ''] = token.split('.')
  const none = Buffer.from('{"alg":"none"}').toString('base64url')
  const value = random.pick([
    `Bearer ${head}.${claims}.`,
    `Bearer ${none}.${claims}.`,
    `Bearer ${head}.${claims.slice(0, -2)}.${sign}`,
    `Bearer ${head}.${claims}.${sign.slice(1)}x`,
    `Bearer ${token}.x`,
    `Basic ${Buffer.from('a:b').toString('base64')}`,
    `Bearer ${CANARY}`,
    'Bearer',
    'Bearer ..',
    `Bearer ${'x'.repeat(3_000)}`,
    token,
    '',
  ])
  return random.below(4) === 0 ? [] : [['Authorization', value]]
}

/** Forms of an id. Some mean the same id, most mean nothing. */
export function oddId(id: string, random: Random): string {
  return random.pick([
    id.toUpperCase(),
    id.replaceAll('-', ''),
    `%7B${id}%7D`,
    `${id}%00`,
    `%20${id}`,
    `${id}%0a`,
    `urn:uuid:${id}`,
    `..%2f${id}`,
    id.slice(0, -1),
    `g${id.slice(1)}`,
    `%EF%BC%91${id.slice(1)}`,
    '%00',
    '%ff',
    '%c0%ae',
    '%zz',
    '%',
    '1',
    '-1',
    'null',
    'undefined',
    '__proto__',
    'constructor',
    `${id}'`,
    `%${id.charCodeAt(0).toString(16)}${id.slice(1)}`,
    `%2525${id}`,
    'x'.repeat(random.pick([200, 4_000, 15_000])),
    `${id};x=1`,
    `${id}.json`,
    CANARY,
    encodeURIComponent('𝒳𝒳'),
  ])
}

/** Whole addresses that were bent. */
export function oddPath(path: string, random: Random): string {
  return random.pick([
    `/api${path}`,
    `/api/api${path}`,
    `${path}/`,
    `${path}//`,
    `/${path}`,
    `${path}/..`,
    `/./${path.slice(1)}`,
    `/%2e%2e${path}`,
    `${path}%2f`,
    `${path}/${CANARY}`,
    path.toUpperCase(),
    `${path}#x`,
    `${path}?`,
    `${path};x`,
    `http://x${path}`,
    `//evil.example${path}`,
    `${path}\\`,
    path.slice(0, -3),
    `${path}%00`,
    `${path}%`,
    path.slice(1),
    '*',
    '/',
  ])
}

/** Queries that were bent: each name twice, as a list, unknown, badly encoded. */
export function oddQuery(name: string, random: Random): string {
  const value = random.pick([
    '',
    '5',
    '-1',
    '0',
    '1e3',
    '%00',
    '%ff%fe',
    '%zz',
    '%',
    '9'.repeat(30),
    CANARY,
    'x'.repeat(400),
    'true',
    '%5C',
    '%25',
    '%F0%9F%91%BE',
    '+',
    ' 5'.trim(),
    '1.5',
    '0x1',
  ])
  return random.pick([
    `${name}=${value}`,
    `${name}=${value}&${name}=5`,
    `${name}[]=${value}`,
    `${name}[$gt]=${value}`,
    `${name}`,
    `=${value}`,
    `&&&`,
    `${name}=${value}&__proto__[x]=1&constructor=1`,
    `x=${'y&x='.repeat(1_500)}`,
    `${name}=${value}&token=${CANARY}`,
  ])
}
