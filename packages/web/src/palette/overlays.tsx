import { useEffect } from 'react'
import { useOverlay } from '../board-state/overlay.ts'
import { useAppKeys } from '../shortcuts/app-keys.ts'
import { lazyComponent, whenIdle } from '../ui/lazy-component.tsx'

const Palette = lazyComponent(async () => (await import('./palette.tsx')).Palette)
const ShortcutSheet = lazyComponent(async () => (await import('../shortcuts/shortcut-sheet.tsx')).ShortcutSheet)

/** The overlays of all pages and their shortcuts. They are prefetched when the browser is idle, so that they open at once. */
export function Overlays() {
  const shown = useOverlay()
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
