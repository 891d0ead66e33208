import { expect, it } from 'vitest'
import { ChatTemplate } from '../chat-template.js'
import { goTemplate } from './go-template.js'

const frames =
  "{% if messages[0]['role'] != 'system' %}{{ '<s>system\nBe kind.</s>\n' }}{% endif %}" +
  "{% for m in messages %}{{ '<s>' + m['role'] + '\n' + m['content'] + '</s>' + '\n' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<s>assistant\n' }}{% endif %}"

it('a template of fixed texts around messages is said in the language of Ollama', () => {
  expect(goTemplate(new ChatTemplate(frames))).toBe(
    '{{ if ne (index .Messages 0).Role "system" }}{{ "<s>system\\nBe kind.</s>\\n" }}{{ end }}' +
      '{{ range .Messages }}{{ if eq .Role "system" }}{{ "<s>system\\n" }}{{ .Content }}{{ "</s>\\n" }}' +
      '{{ else if eq .Role "user" }}{{ "<s>user\\n" }}{{ .Content }}{{ "</s>\\n" }}' +
      '{{ else if eq .Role "assistant" }}{{ "<s>assistant\\n" }}{{ .Content }}{{ "</s>\\n" }}{{ end }}{{ end }}{{ "<s>assistant\\n" }}',
  )
})

it('one that counts messages, or knows no system, is not', () => {
  expect(
    goTemplate(new ChatTemplate('{% for m in messages %}{{ loop.index }}{{ m.content }}{% endfor %}')),
  ).toBeUndefined()
  expect(goTemplate(new ChatTemplate('{% for m in messages %}{{ m.content | upper }}{% endfor %}'))).toBeUndefined()
})
