// Note on a run of ask what was asked and answered. Forgetting takes these texts away like any other of the agent's.
MATCH (run:Run {agentId: $agentId, id: $runId})
SET
  run.question = $question,
  run.answer = $answer
RETURN run.id AS id
