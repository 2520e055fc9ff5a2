// Note on a run of ask what was asked and answered, and of which moment. Forgetting takes these texts away like any other of the agent's.
// Returns: id STRING
MATCH (run:Run {agentId: $agentId, id: $runId})
SET
  run.question = $question,
  run.answer = $answer,
  run.asOf = $asOf
RETURN run.id AS id
