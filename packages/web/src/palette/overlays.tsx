import { useEffect } from 'react'
import { useAppKeys } from '../shortcuts/app-keys.ts'
import { late, whenIdle } from '../ui/late.tsx'
import { useStore } from '../ui/store.ts'
import { overlay } from './overlay.ts'

const Palette = late(async () => (await import('./palette.tsx')).Palette)
const ShortcutSheet = late(async () => (await import('../shortcuts/shortcut-sheet.tsx')).ShortcutSheet)

/** What lies over all pages, with the keys for it. It is fetched when nothing else is to do, so that it opens at once. */
export function Overlays() {
  const shown = useStore(overlay)
  useAppKeys()
  useEffect(() => {
    whenIdle(() => void Promise.all([Palette.fetch(), ShortcutSheet.fetch()]))
  }, [])
  return (
    <>
      {shown?.what === 'palette' && <Palette card_id={shown.card_id} />}
      {shown?.what === 'shortcuts' && <ShortcutSheet />}
    </>
  )
}
