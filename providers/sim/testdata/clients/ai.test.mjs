import assert from 'node:assert/strict'
import test from 'node:test'
import {createAnthropic} from '@ai-sdk/anthropic'
import {createOpenAI} from '@ai-sdk/openai'
import {APICallError, generateText, jsonSchema, Output, stepCountIs, streamText, tool as define} from 'ai'
import {chaosHeader, checks, model, tool, url} from './support.mjs'

globalThis.AI_SDK_LOG_WARNINGS = false

const bodies = [] // what was sent to the Responses wire
const recorded = (to, init) => {
  bodies.push(init.body)
  return fetch(to, init)
}

const providers = {
  'ai: openai responses': name => createOpenAI({baseURL: `${url}/v1`, apiKey: 'none', fetch: recorded}).responses(name),
  'ai: openai chat completions': name => createOpenAI({baseURL: `${url}/v1`, apiKey: 'none'}).chat(name),
  'ai: anthropic': name => createAnthropic({baseURL: `${url}/v1`, apiKey: 'none'})(name),
}

const reports = result => Promise.all([result.text, result.toolCalls, result.usage, result.response])

for (const [name, connect] of Object.entries(providers)) {
  checks(name, {
    user: prompt => [{role: 'user', content: prompt}],
    async ask(messages, {stream, tools, schema, chaos, model: name = model}) {
      const request = {model: connect(name), system: 'Obey.', messages, maxRetries: 0, maxOutputTokens: 1000, headers: chaos ? {[chaosHeader]: chaos} : {}}
      if (tools) request.tools = Object.fromEntries(tools.map(t => [t.name, define({description: t.description, inputSchema: jsonSchema(t.schema)})]))
      if (schema) request.output = Output.object({schema: jsonSchema(schema)})
      let pieces = 1
      let result
      if (stream) {
        pieces = 0
        let failed
        result = streamText({...request, onError: ({error}) => { failed = error }})
        for await (const _ of result.textStream) pieces++
        if (failed) throw failed
      } else {
        result = await generateText(request)
      }
      const [text, calls, usage, response] = await reports(result)
      return {text, calls: calls.map(c => ({id: c.toolCallId, name: c.toolName, args: c.input})), pieces, input: usage.inputTokens, output: usage.outputTokens, state: response.messages}
    },
    answer: (messages, reply, results) => [...messages, ...reply.state,
      {role: 'tool', content: results.map((value, i) => ({type: 'tool-result', toolCallId: reply.calls[i].id, toolName: reply.calls[i].name, output: {type: 'text', value}}))}],
    error: err => APICallError.isInstance(err) ? {status: err.statusCode} : null,
  })

  test(`${name}: a loop of steps`, async () => {
    bodies.length = 0
    const {text, steps} = await generateText({
      model: connect(model), stopWhen: stepCountIs(5),
      prompt: 'think Hm.\nsay First.\ncall weather {"city":"Oslo"}\nthen\ncall weather {"city":"Rome"}\nthen\nresults',
      tools: {weather: define({inputSchema: jsonSchema(tool.schema), execute: ({city}) => `sun in ${city}`})},
    })
    assert.equal(steps.length, 3)
    assert.equal(text, 'weather -> sun in Rome')
    if (name === 'ai: openai responses') assert.match(bodies.at(-1), /"item_reference"/, 'the second step names items of the first by id')
  })
}
