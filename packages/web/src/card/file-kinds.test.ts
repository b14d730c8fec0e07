import { expect, test } from 'vitest'
import { asKind, kindOf, shownName, sizeOf } from './file-kinds.ts'

const kind = (mime_type: string, size = 10) => kindOf({ mime_type, size })

test('[WEB-27] web pages and unknown types have no preview', () => {
  for (const type of [
    'image/svg+xml',
    'Image/SVG+XML;x',
    'text/html',
    'TEXT/HTML; charset=utf-8',
    'application/xhtml+xml',
    'application/octet-stream',
    '',
  ])
    expect(kind(type)).toBeUndefined()
})

test('[WEB-27] images, small text files and PDFs have a preview', () => {
  expect(['image/png', 'text/plain; charset=utf-8', 'application/pdf'].map((type) => kind(type))).toEqual([
    'image',
    'text',
    'pdf',
  ])
  expect(kind('text/plain', 200_001)).toBeUndefined()
})

test('[WEB-27] a preview sets the MIME type of its kind, whatever the server says', () => {
  const page = new Blob(['<script>alert(1)</script>'], { type: 'text/html' })
  expect(asKind(page, 'pdf', 'text/html').type).toBe('application/pdf')
  expect(asKind(page, 'text', 'text/html').type).toBe('text/plain')
})

test('[WEB-27] file sizes are readable', () => {
  expect([0, 1, 999, 1_000, 12_345, 999_499, 999_500, 10_485_760].map(sizeOf)).toEqual([
    '0 bytes',
    '1 byte',
    '999 bytes',
    '1.0 kB',
    '12 kB',
    '999 kB',
    '1.0 MB',
    '10 MB',
  ])
})

test('[WEB-27] hidden characters in a file name are visible', () => {
  expect(shownName('invoice\u202egnp.exe')).toBe('invoice\ufffdgnp.exe')
  expect(shownName('a\nb\u2066c')).toBe('a\ufffdb\ufffdc')
  expect(shownName('Größe – “été” 你好 שלום.png')).toBe('Größe – “été” 你好 שלום.png')
})
