import { type Board, createClient, isLockstepError } from '@lockstep/client'
import { type FormEvent, StrictMode, useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { BoardPage } from './board-page.tsx'
import './style.css'

const client = createClient({ baseUrl: import.meta.env.VITE_LOCKSTEP_URL ?? 'http://127.0.0.1:8000' })

function App() {
  const [isLoggedIn, setLoggedIn] = useState(false)
  const [board_id, setBoardId] = useState<string>()
  if (!isLoggedIn) return <Login onDone={() => setLoggedIn(true)} />
  if (board_id === undefined) return <Boards onChoose={setBoardId} />
  return <BoardPage client={client} board_id={board_id} />
}

function Login({ onDone }: { onDone: () => void }) {
  const [problem, setProblem] = useState('')
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const { email, password } = Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>
    client.login({ username: email, password }).then(
      onDone,
      // Every error of the service has a sentence for people in `detail`.
      (error: unknown) => setProblem(isLockstepError(error) ? error.detail : String(error)),
    )
  }
  return (
    <form onSubmit={submit}>
      <input name="email" type="email" placeholder="E-mail" required />
      <input name="password" type="password" placeholder="Password" required />
      <button type="submit">Log in</button>
      <p role="alert">{problem}</p>
    </form>
  )
}

function Boards({ onChoose }: { onChoose: (board_id: string) => void }) {
  const [boards, setBoards] = useState<Board[]>([])
  useEffect(() => void client.listBoards().then(setBoards), [])
  return (
    <nav>
      {boards.map(({ id, title }) => (
        <button type="button" key={id} onClick={() => onChoose(id)}>
          {title}
        </button>
      ))}
    </nav>
  )
}

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
