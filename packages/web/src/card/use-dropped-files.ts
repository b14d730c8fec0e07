import { useEffect, useRef, useState } from 'react'
import { isWriting } from '../ui/keys.tsx'

/** The events whose files an editor has taken. Whether the default is prevented says less: the board prevents every drop. */
export const takenFiles = new WeakSet<Event>()

/** Handles files that are dropped or pasted anywhere on the page. Returns whether files are being dragged over it. */
export function useDroppedFiles(onFiles: (files: File[]) => void): boolean {
  const [isOver, setOver] = useState(false)
  const latest = useRef(onFiles)
  useEffect(() => {
    latest.current = onFiles
  })
  useEffect(() => {
    const controller = new AbortController()
    const on = <T extends 'dragover' | 'dragleave' | 'drop' | 'paste'>(
      type: T,
      act: (event: WindowEventMap[T]) => void,
    ) => addEventListener(type, act, { signal: controller.signal })
    on('dragover', (event) => {
      if (!event.dataTransfer?.types.includes('Files')) return
      // Otherwise the browser would open the file.
      event.preventDefault()
      setOver(true)
    })
    on('dragleave', (event) => {
      if (!event.relatedTarget) setOver(false)
    })
    on('drop', (event) => {
      setOver(false)
      const files = [...(event.dataTransfer?.files ?? [])]
      if (files.length === 0 || takenFiles.has(event)) return
      event.preventDefault()
      latest.current(files)
    })
    on('paste', (event) => {
      const files = [...(event.clipboardData?.files ?? [])]
      // Some programs copy an image along with the text.
      const isText = isWriting(event.target) && event.clipboardData?.getData('text/plain')
      if (files.length === 0 || isText || takenFiles.has(event)) return
      event.preventDefault()
      latest.current(files)
    })
    return () => controller.abort()
  }, [])
  return isOver
}
