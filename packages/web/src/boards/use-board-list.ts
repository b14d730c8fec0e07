import { useEffect } from 'react'
import { boardList, loadBoards } from '../board-state/board-list.ts'
import { useStore } from '../ui/store.ts'

const POLL_MS = 15_000

/** The user's boards. Asks again every 15 seconds and when the page becomes visible, with the ETags of what is shown. */
export function useBoardList() {
  useEffect(() => {
    const loadIfVisible = () => {
      if (document.visibilityState === 'visible') void loadBoards()
    }
    void loadBoards()
    const timer = setInterval(loadIfVisible, POLL_MS)
    document.addEventListener('visibilitychange', loadIfVisible)
    for (const type of ['online', 'offline']) addEventListener(type, loadIfVisible)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', loadIfVisible)
      for (const type of ['online', 'offline']) removeEventListener(type, loadIfVisible)
    }
  }, [])
  return useStore(boardList)
}
