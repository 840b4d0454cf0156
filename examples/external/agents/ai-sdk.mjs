// An agent made with the AI SDK: it answers the question in its first argument, with the
// tools of the MCP server at MCP_URL.
import { createMCPClient } from '@ai-sdk/mcp';
import { openai } from '@ai-sdk/openai';
import { generateText, stepCountIs } from 'ai';

const mcp = await createMCPClient({ transport: { type: 'http', url: process.env.MCP_URL } });
try {
  const { text } = await generateText({
    model: openai('gpt-5-mini'), // reads OPENAI_BASE_URL and OPENAI_API_KEY
    system: 'You are a helpful assistant. Weeks start on Monday.',
    prompt: process.argv[2],
    tools: await mcp.tools(),
    stopWhen: stepCountIs(10),
  });
  console.log(text);
} finally {
  await mcp.close();
}
