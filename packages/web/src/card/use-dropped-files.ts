import { useEffect, useRef, useState } from 'react'
import { isWriting } from '../ui/keys.tsx'

/** Files that are dropped anywhere or pasted, while this is shown. Tells whether some are held over the page. */
export function useDroppedFiles(take: (files: File[]) => void): boolean {
  const [isOver, setOver] = useState(false)
  const latest = useRef(take)
  useEffect(() => {
    latest.current = take
  })
  useEffect(() => {
    const life = new AbortController()
    const on = <T extends 'dragover' | 'dragleave' | 'drop' | 'paste'>(
      type: T,
      act: (event: WindowEventMap[T]) => void,
    ) => addEventListener(type, act, { signal: life.signal })
    on('dragover', (event) => {
      if (!event.dataTransfer?.types.includes('Files')) return
      // Without this the browser would leave the page for the file.
      event.preventDefault()
      setOver(true)
    })
    on('dragleave', (event) => {
      if (!event.relatedTarget) setOver(false)
    })
    on('drop', (event) => {
      setOver(false)
      const files = [...(event.dataTransfer?.files ?? [])]
      if (files.length === 0) return
      event.preventDefault()
      latest.current(files)
    })
    on('paste', (event) => {
      const files = [...(event.clipboardData?.files ?? [])]
      // Some programs put a picture beside the text that is meant.
      const isText = isWriting(event.target) && event.clipboardData?.getData('text/plain')
      if (files.length === 0 || isText) return
      event.preventDefault()
      latest.current(files)
    })
    return () => life.abort()
  }, [])
  return isOver
}
