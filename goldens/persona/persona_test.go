package persona

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/helper"
)

var shopper = User{
	Persona: "A customer who is in a hurry.", Goal: "You want your money back.",
	Facts: []Fact{{Name: "order_number", Value: "O7"}, {Name: "reason", Value: "the cup is broken", Asked: []string{"why", "what happened"}}},
	Model: helper.Model{Name: "user", Provider: "p", Model: "m"},
}

func TestPromptAndMessages(t *testing.T) {
	require.Contains(t, shopper.Prompt(), "A customer who is in a hurry.")
	require.Contains(t, shopper.Prompt(), "- order_number: O7\n- reason (why, what happened): the cup is broken\n")
	require.Equal(t, []Message{
		{Text: "You wrote to the agent:\nRefund me.\n\nThe agent writes:\nWhich order number?"},
		{Own: true, Text: "O7."},
		{Text: "The agent writes:\nWhy?"},
	}, shopper.Messages("Refund me.", []Exchange{{"Which order number?", "O7."}}, "Why?"))
	require.LessOrEqual(t, len(shopper.Messages("x", nil, strings.Repeat("y", 1<<20))[0].Text), maxHeard+100, "what an agent writes is bounded")

	other := shopper
	other.Goal = "You want another cup."
	require.NotEqual(t, shopper.Helper().Prompt, other.Helper().Prompt)
	other = shopper
	other.Model.KeyEnv = "KEY"
	require.Equal(t, shopper.Helper(), helper.Helper{Role: helper.User, Model: shopper.Model, Prompt: other.Helper().Prompt}, "a key changes no answer")
}

func TestReadAndDone(t *testing.T) {
	require.Equal(t, "O7.", Read(" O7.\n"))
	require.Empty(t, Read("Thanks. "+Stop))
	require.LessOrEqual(t, len(Read(strings.Repeat("x", 1<<20))), maxSaid+len("…"))
	require.False(t, shopper.Done(nil))
	require.True(t, shopper.Done([]Exchange{{"Which order?", ""}}), "it has ended the conversation")
	require.False(t, shopper.Done(make9("x")))
	require.True(t, shopper.Done(append(make9("x"), Exchange{"y", "x"})), "10 are the most")
	short := shopper
	short.Turns = 1
	require.True(t, short.Done([]Exchange{{"Which order?", "O7"}}))
}

func make9(said string) (talk []Exchange) {
	for range 9 {
		talk = append(talk, Exchange{"?", said})
	}
	return talk
}

func TestFaults(t *testing.T) {
	const ask = "Which order number do you mean?"
	for name, c := range map[string]struct {
		talk []Exchange
		want []string
	}{
		"what was asked":         {[]Exchange{{ask, "It is o7."}}, nil},
		"another word":           {[]Exchange{{"What happened?", "The cup is broken."}}, nil},
		"unasked":                {[]Exchange{{ask, "O7, the cup is broken."}}, []string{"disclosed a fact unasked: reason"}},
		"asked later":            {[]Exchange{{ask, "O7, the cup is broken."}, {"Why?", "The cup is broken."}}, []string{"disclosed a fact unasked: reason"}},
		"asked before":           {[]Exchange{{"Why?", "I will say."}, {ask, "O7. The cup is broken."}}, nil},
		"the agent said it":      {[]Exchange{{"Is it O7?", "Yes, O7."}}, nil},
		"part of another word":   {[]Exchange{{"Well?", "It is SO70 and the cup is brokenhearted."}}, nil},
		"in the request":         {[]Exchange{{"Well?", "I want a refund in full."}}, nil},
		"out of role":            {[]Exchange{{ask, "As an AI, I have no order. How may I assist you?"}}, []string{FaultPersona}},
		"the answer":             {[]Exchange{{ask, "You should say refunded 25.50."}}, []string{FaultAnswer}},
		"the answer, said first": {[]Exchange{{"Then it is refunded, 25.50?", "Yes, refunded, 25.50."}}, nil},
		"a longer number":        {[]Exchange{{ask, "I paid 125.50 or 25.507."}}, nil},
		"all":                    {[]Exchange{{"Well?", "As an AI language model I say refunded, O7, the cup is broken."}, {"Well?", "O7"}}, []string{FaultPersona, "disclosed a fact unasked: order_number", "disclosed a fact unasked: reason", FaultAnswer}},
		"nothing":                {[]Exchange{{ask, ""}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, shopper.Faults("I want a refund in full.", c.talk, []string{"refunded", "25.50", "money", ""}))
		})
	}
}

// Play reads what a user knows from its prompt alone.
func TestPlay(t *testing.T) {
	play := func(heard string, style Style) string {
		said, ok := Play(shopper.Prompt(), shopper.Messages("Refund me.", nil, heard)[0].Text, style)
		require.True(t, ok)
		return said
	}
	require.Equal(t, "The order number is O7.", play("Which order number?", Plain))
	require.Equal(t, "The order number is O7. The reason is the cup is broken.", play("Your order number, and why?", Plain))
	require.Equal(t, "I do not know that. You want your money back.", play("What colour is it?", Plain))
	require.Equal(t, Stop, play("It is refunded.", Plain))
	require.Equal(t, Stop, play("Which order number?", Nothing))
	require.Equal(t, "The order number is O7. The reason is the cup is broken.", play("Hello.", Blurts))
	_, ok := Play("You are a helpful assistant.", "Hi", Plain)
	require.False(t, ok)
	faults := shopper.Faults("Refund me.", []Exchange{{"Hello.", play("Hello.", Blurts)}, {"Hm?", play("Hm?", OutOf)}}, nil)
	require.Equal(t, []string{"disclosed a fact unasked: order_number", "disclosed a fact unasked: reason", FaultPersona}, faults)
}

// A user that plays by the rules has no faults, whatever the agent writes.
func FuzzPlay(f *testing.F) {
	f.Add("Which order number?", "Why?")
	f.Add("\n- x: y\n", "###END### order_number(")
	f.Fuzz(func(t *testing.T, first, second string) {
		var talk []Exchange
		for _, heard := range []string{first, second} {
			messages := shopper.Messages("Refund me.", talk, heard)
			said, ok := Play(shopper.Prompt(), messages[len(messages)-1].Text, Plain)
			require.True(t, ok)
			talk = append(talk, Exchange{heard, Read(said)})
		}
		require.Empty(t, shopper.Faults("Refund me.", talk, nil))
	})
}
