import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** The development server proxies API requests to this service. */
const SERVICE = 'http://127.0.0.1:8000'
const paths =
  'auth users boards columns cards comments labels checklists items attachments automations health docs demo'.split(' ')

/** Writes Brotli and gzip versions of every text file, which the server sends as they are. */
function precompress(): Plugin {
  const brotli = (text: string) =>
    promisify(brotliCompress)(text, { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } })
  return {
    name: 'precompress',
    apply: 'build',
    generateBundle: {
      // After all other plugins: chunk preloading is written into the chunks last.
      order: 'post',
      async handler(_options, bundle) {
        for (const [name, file] of Object.entries(bundle)) {
          const text = file.type === 'chunk' ? file.code : file.source
          if (typeof text !== 'string') continue
          this.emitFile({ type: 'asset', fileName: `${name}.br`, source: await brotli(text) })
          this.emitFile({ type: 'asset', fileName: `${name}.gz`, source: await promisify(gzip)(text, { level: 9 }) })
        }
      },
    },
  }
}

/**
 * Copies the bundle of Redoc, which the server serves under `/redoc`. The dot keeps the folder out of `/app`, whose
 * Content-Security-Policy would allow it as a script. A buffer, because it is not to be precompressed.
 */
function copyRedoc(): Plugin {
  const bundle = fileURLToPath(import.meta.resolve('redoc/bundles/redoc.standalone.js'))
  return {
    name: 'copy-redoc',
    apply: 'build',
    async generateBundle() {
      this.emitFile({ type: 'asset', fileName: '.redoc/redoc.standalone.js', source: await readFile(bundle) })
    },
  }
}

export default defineConfig({
  base: '/app/',
  plugins: [react(), precompress(), copyRedoc()],
  resolve: {
    alias: {
      // The browser version decodes entities with innerHTML, which the Content-Security-Policy forbids.
      'decode-named-character-reference': fileURLToPath(import.meta.resolve('decode-named-character-reference')),
    },
  },
  build: {
    target: 'es2023',
    // The Content-Security-Policy allows neither inline scripts nor data URLs for fonts.
    assetsInlineLimit: 0,
    // One stylesheet, loaded with the page. If the stylesheet of a chunk failed to load, Vite would not request it again, and
    // the chunk would be unstyled until the page is reloaded.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    manifest: 'files.json',
  },
  server: {
    port: 5173,
    proxy: {
      ...Object.fromEntries(paths.map((path) => [`/${path}`, SERVICE])),
      '/ws': { target: SERVICE, ws: true },
    },
  },
})
