import Groq from 'groq-sdk'
import {chaosHeader, checks, model, url} from './support.mjs'

const client = new Groq({baseURL: url, apiKey: 'none', maxRetries: 0})
const classes = {400: Groq.BadRequestError, 401: Groq.AuthenticationError, 404: Groq.NotFoundError, 429: Groq.RateLimitError, 500: Groq.InternalServerError}

checks('groq', {
  user: prompt => [{role: 'user', content: prompt}],
  async ask(messages, {stream, tools, schema, chaos, model: name = model}) {
    const body = {model: name, messages}
    if (tools) body.tools = tools.map(t => ({type: 'function', function: {name: t.name, description: t.description, parameters: t.schema}}))
    if (schema) body.response_format = {type: 'json_schema', json_schema: {name: 'place', schema, strict: true}}
    const options = {headers: chaos ? {[chaosHeader]: chaos} : {}}
    if (!stream) {
      const done = await client.chat.completions.create(body, options)
      return read(done.choices[0].message, 1, done.usage)
    }
    const message = {role: 'assistant', content: '', tool_calls: []}
    let pieces = 0
    let usage
    for await (const chunk of await client.chat.completions.create({...body, stream: true, stream_options: {include_usage: true}}, options)) {
      usage = chunk.usage ?? usage
      const delta = chunk.choices[0]?.delta ?? {}
      if (delta.content) {
        message.content += delta.content
        pieces++
      }
      for (const c of delta.tool_calls ?? []) {
        if (c.id) message.tool_calls[c.index] = {id: c.id, type: 'function', function: {name: c.function.name, arguments: ''}}
        message.tool_calls[c.index].function.arguments += c.function.arguments
      }
    }
    return read(message, pieces, usage)
  },
  answer: (messages, reply, results) => [...messages, reply.state, ...results.map((content, i) => ({role: 'tool', tool_call_id: reply.calls[i].id, content}))],
  error: err => err instanceof (classes[err.status] ?? Array) ? {status: err.status} : null,
})

function read(m, pieces, usage) {
  const calls = (m.tool_calls ?? []).map(c => ({id: c.id, name: c.function.name, args: JSON.parse(c.function.arguments)}))
  return {text: m.content, calls, pieces, input: usage.prompt_tokens, output: usage.completion_tokens, state: m}
}
