import { useState } from 'react'
import { useLocation } from 'wouter'
import { createBoard, createBoardFrom } from '../board-state/create-board.ts'
import { errorMessage } from '../ui/failure.tsx'
import { useMounted } from '../ui/mounted.ts'
import { showToast } from '../ui/toasts.ts'

interface NewBoardActions {
  /** What is being created. */
  creating: 'board' | 'tutorial' | undefined
  create: (title: string) => void
  createTutorial: () => void
}

/** Creates boards, one at a time, and opens them. */
export function useNewBoard(): NewBoardActions {
  const [creating, setCreating] = useState<NewBoardActions['creating']>()
  const [, navigate] = useLocation()
  const isMounted = useMounted()
  const start = async (what: 'board' | 'tutorial', create: () => Promise<string>) => {
    if (creating) return
    setCreating(what)
    try {
      const board_id = await create()
      // The user may have opened another board in the meantime.
      if (isMounted.current) navigate(`/b/${board_id}`)
    } catch (error) {
      showToast(errorMessage(error))
      setCreating(undefined)
    }
  }
  return {
    creating,
    create: (title) => void start('board', () => createBoard(title)),
    createTutorial: () => void start('tutorial', async () => createBoardFrom((await import('./tutorial.ts')).tutorial)),
  }
}
