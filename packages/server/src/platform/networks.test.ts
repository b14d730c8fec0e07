import { seeded } from '@lockstep/testing/random'
import ipaddr from 'ipaddr.js'
import { expect, test } from 'vitest'
import { isInNetworks, isNetwork, isPublicAddress, networkSet } from './networks.ts'

/** `ADDRESSES=300000` for a full run. */
const ADDRESSES = Number(process.env['ADDRESSES'] ?? 30_000)
const AZURE = '168.63.129.16'

/** The decision of another library with its own tables. */
function isPublicElsewhere(address: string): boolean {
  const parsed = ipaddr.parse(address)
  const isGlobal = parsed.kind() === 'ipv4' || parsed.match(ipaddr.parseCIDR('2000::/3'))
  return isGlobal && parsed.range() === 'unicast' && address !== AZURE
}

const { below, pick } = seeded(20_260_722)
const hex = () => below(65_536).toString(16)
const ipv6From = (start: string) =>
  [...start.split(':'), hex(), hex(), hex(), hex(), hex(), hex(), hex()].slice(0, 8).join(':')
const starts = [
  '2001',
  '2001:db8',
  '2001:2',
  '2002',
  '2620:4f:8000',
  '3fff',
  '3fff:1000',
  '64:ff9b',
  'fe80',
  'fc00',
  'ff02',
  '5f00',
  '0:0:0:0:0:ffff',
  '0:0:0:0:0:0',
]
const special = [
  '10',
  '100.64',
  '100.128',
  '127',
  '169.254',
  '172.16',
  '172.32',
  '192.0.0',
  '192.0.1',
  '192.0.2',
  '192.31.196',
  '192.52.193',
  '192.88.99',
  '192.168',
  '192.175.48',
  '198.18',
  '198.20',
  '198.51.100',
  '203.0.113',
  '224',
  '240',
  '0',
]
const ipv4From = (start: string) =>
  [...start.split('.'), below(256), below(256), below(256), below(256)].slice(0, 4).join('.')
/** Half anywhere, half in or beside a special network. */
const kinds = [
  () => ipv4From(String(below(256))),
  () => ipv4From(pick(special)),
  () => ipv6From(hex()),
  () => ipv6From((0x2000 + below(0x2000)).toString(16)),
  () => ipv6From(pick(starts)),
]
const addresses = Array.from({ length: ADDRESSES }, (_, i) => (kinds[i % kinds.length] as () => string)())
const expected = addresses.map(isPublicElsewhere)
const disagreements = (decide: (address: string) => boolean) =>
  addresses.filter((address, i) => decide(address) !== expected[i])

test(`[HOOK-17] another library decides the same for ${ADDRESSES} random addresses`, () => {
  expect(disagreements(isPublicAddress)).toEqual([])
  const share = addresses.filter(isPublicAddress).length / ADDRESSES
  expect([share > 0.2, share < 0.8]).toEqual([true, true])
})

test.each(['192.88.99.0/24', '100.64.0.0/10', '2001::/23', '3fff::/20', '2002::/16'])(
  '[HOOK-17] the comparison finds it if %s were public',
  (network) => {
    const forgotten = networkSet([network])
    expect(disagreements((address) => isPublicAddress(address) || isInNetworks(forgotten, address))).not.toEqual([])
  },
)

test('[HOOK-17] the first and last address of each special network is not public, those beside it are', () => {
  const networks = ['10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '198.18.0.0/15']
  for (const network of networks) {
    const first = ipaddr.IPv4.networkAddressFromCIDR(network).toString()
    const last = ipaddr.IPv4.broadcastAddressFromCIDR(network).toString()
    expect([network, isPublicAddress(first), isPublicAddress(last)]).toEqual([network, false, false])
    const number = (address: string) => Number(`0x${Buffer.from(address.split('.').map(Number)).toString('hex')}`)
    const text = (n: number) => [n >>> 24, (n >>> 16) & 255, (n >>> 8) & 255, n & 255].join('.')
    const beside = [text(number(first) - 1), text(number(last) + 1)]
    expect([network, ...beside.map(isPublicAddress)]).toEqual([network, true, true])
  }
  expect([AZURE, 'not an address', '', '1.2.3', '2606:4700::1%eth0'].map(isPublicAddress)).toEqual(Array(5).fill(false))
})

test('[CONF-8] networks are in CIDR notation', () => {
  expect(['10.0.0.0/8', '0.0.0.0/0', '10.1.2.3/32', '::/0', 'fd00::/8', '::1/128'].every(isNetwork)).toBe(true)
  const bad = [
    '',
    '10.0.0.0',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0/8',
    'fd00::/129',
    'fe80::1%eth0/64',
    'a/8',
  ]
  expect(bad.filter(isNetwork)).toEqual([])
})
